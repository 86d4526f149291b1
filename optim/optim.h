// All of optim/.
#pragma once

#include "optim/adam.h"
#include "optim/one_cycle.h"
#include "optim/optimizer.h"
#include "optim/rmsprop.h"
#include "optim/schedule.h"
#include "optim/sgd.h"

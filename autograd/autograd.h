// All of autograd/ that users need.
#pragma once

#include "autograd/backward.h"
#include "autograd/grad_mode.h"
#include "autograd/leaf.h"

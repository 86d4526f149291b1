// The parts of autograd/ that users need.
#pragma once

#include "autograd/backward.h"
#include "autograd/checkpoint.h"
#include "autograd/function.h"
#include "autograd/grad_mode.h"
#include "autograd/gradcheck.h"
#include "autograd/graph.h"
#include "autograd/leaf.h"
#include "autograd/multi_grad_hook.h"
#include "autograd/saved_hooks.h"
#include "autograd/transforms/derivative.h"
#include "autograd/transforms/jacobian.h"

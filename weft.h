// weft: n-d tensors with zero-copy views, reverse-mode autograd, and what it takes to train networks with them.
#pragma once

#include "autograd/autograd.h"
#include "data/data.h"
#include "io/checkpoint.h"
#include "io/io.h"
#include "metrics/metrics.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/all.h"

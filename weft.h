// weft: n-dimensional tensors with zero-copy views, reverse-mode autograd, and everything to train neural networks.
#pragma once

#include "autograd/autograd.h"
#include "data/data.h"
#include "io/checkpoint.h"
#include "io/io.h"
#include "metrics/metrics.h"
#include "nn/nn.h"
#include "optim/optim.h"
#include "tensor/all.h"

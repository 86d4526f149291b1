// What the kernels of batch normalization and of its fusion with pooling share.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/scratch.h"

namespace weft::kernels::cpu {

/// Of each channel of x, over all axes but 1: mean, biased variance and rstd = 1 / sqrt(var + eps).
struct BatchStatistics {
  Scratch<double> mean, var, rstd;
  BatchStatistics(const Operand& x, double eps);
};

}  // namespace weft::kernels::cpu

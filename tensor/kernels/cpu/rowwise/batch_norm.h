// What the kernels of batch normalization and of its fusion with pooling share.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// mean[c] and rstd[c] = 1 / sqrt(biased variance + eps) over all axes of x but 1, in double.
void batch_statistics(const Operand& x, double eps, double* mean, double* rstd);

}  // namespace weft::kernels::cpu

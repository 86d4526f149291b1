// Products of rows with a weight, plus a bias.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// out = x weight^T + bias: x (R, K), weight (O, K), bias (O) or null, out (R, O), any strides, one dtype. The bias is
/// part of the sum: half precision rounds once. K = 0 gives the bias.
void linear(const Operand& x, const Operand& weight, const Operand* bias, const Operand& out);

}  // namespace weft::kernels::cpu

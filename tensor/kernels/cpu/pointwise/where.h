// where: a choice between two tensors, element by element.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// out[i] = condition[i] ? a[i] : b[i]. condition is bool; a, b and out have one dtype, any.
void where(const Operand& condition, const Operand& a, const Operand& b, const Operand& out);

}  // namespace weft::kernels::cpu

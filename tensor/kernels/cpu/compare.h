// Comparisons, element-wise; out is bool. Any dtype, the same on both sides. NaN is unequal to everything, itself included.
#pragma once

#include "tensor/kernels/cpu/number.h"
#include "tensor/kernels/cpu/operand.h"

namespace weft::kernels::cpu {

enum class Comparison { eq, ne, lt, le, gt, ge };

/// out[i] = a[i] <comparison> b[i]
void compare(Comparison comparison, const Operand& a, const Operand& b, const Operand& out);
/// out[i] = a[i] <comparison> value. A floating tensor compares with the value in its own precision (f32 for bf16 and f16).
void compare_scalar(Comparison comparison, const Operand& a, const Number& value, const Operand& out);

}  // namespace weft::kernels::cpu

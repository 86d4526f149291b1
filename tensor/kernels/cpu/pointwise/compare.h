// Comparisons and logic, element-wise; out is bool. Any dtype, the same on both sides. NaN is unequal to everything,
// itself included.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"

namespace weft::kernels::cpu {

void eq(const Operand& a, const Operand& b, const Operand& out);
void ne(const Operand& a, const Operand& b, const Operand& out);
void lt(const Operand& a, const Operand& b, const Operand& out);
void le(const Operand& a, const Operand& b, const Operand& out);
void gt(const Operand& a, const Operand& b, const Operand& out);
void ge(const Operand& a, const Operand& b, const Operand& out);

// With a number, in the precision the tensor is computed in (f32 for bf16 and f16); an integer tensor has an integer.
void eq_scalar(const Operand& x, const Scalar& value, const Operand& out);
void ne_scalar(const Operand& x, const Scalar& value, const Operand& out);
void lt_scalar(const Operand& x, const Scalar& value, const Operand& out);
void le_scalar(const Operand& x, const Scalar& value, const Operand& out);
void gt_scalar(const Operand& x, const Scalar& value, const Operand& out);
void ge_scalar(const Operand& x, const Scalar& value, const Operand& out);

// What is not zero (NaN too) counts as true.
void logical_and(const Operand& a, const Operand& b, const Operand& out);
void logical_or(const Operand& a, const Operand& b, const Operand& out);
void logical_xor(const Operand& a, const Operand& b, const Operand& out);

}  // namespace weft::kernels::cpu

// Arithmetic of a tensor with a number. out and x have one shape and one dtype (all but bool unless noted); for an integer
// dtype the number is an integer.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"

namespace weft::kernels::cpu {

/// x + value
void add_scalar(const Operand& x, const Scalar& value, const Operand& out);
/// value - x
void rsub_scalar(const Operand& x, const Scalar& value, const Operand& out);
/// x * value
void mul_scalar(const Operand& x, const Scalar& value, const Operand& out);
/// x / value; floating.
void div_scalar(const Operand& x, const Scalar& value, const Operand& out);
/// value / x; floating.
void rdiv_scalar(const Operand& x, const Scalar& value, const Operand& out);
/// x to the power value. Exponents 0.5, -0.5, 1, 2, 3, -1 and -2 are roots, products and quotients (as in PyTorch, so
/// that pow(-0, 0.5) is -0 and pow(-inf, 0.5) NaN).
void pow_scalar(const Operand& x, const Scalar& value, const Operand& out);
/// value to the power x.
void rpow_scalar(const Operand& x, const Scalar& value, const Operand& out);

}  // namespace weft::kernels::cpu

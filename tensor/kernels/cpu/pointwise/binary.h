// Element-wise functions of two tensors: out[i] = f(a[i], b[i]). One shape, one dtype (all but bool unless noted).
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

// Integers wrap.
void add(const Operand& a, const Operand& b, const Operand& out);
void sub(const Operand& a, const Operand& b, const Operand& out);
void mul(const Operand& a, const Operand& b, const Operand& out);
/// Floating dtypes only; IEEE-754: x / 0 is an infinity, 0 / 0 NaN.
void div(const Operand& a, const Operand& b, const Operand& out);
/// Integers: wraps; a negative exponent gives 0, except for bases 1 and -1.
void pow(const Operand& a, const Operand& b, const Operand& out);
/// NaN where either is NaN. Any dtype.
void maximum(const Operand& a, const Operand& b, const Operand& out);
void minimum(const Operand& a, const Operand& b, const Operand& out);

}  // namespace weft::kernels::cpu

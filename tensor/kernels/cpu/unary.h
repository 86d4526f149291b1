// Element-wise functions of one tensor: out[i] = f(x[i]). Shapes equal, dtypes equal unless noted. The floating ones take
// f32, f64, bf16 and f16 (computed in float); NaN propagates through all of them.
#pragma once

#include "tensor/kernels/cpu/number.h"
#include "tensor/kernels/cpu/operand.h"

namespace weft::kernels::cpu {

// All dtypes but bool. Integers wrap.
void neg(const Operand& x, const Operand& out);
void abs(const Operand& x, const Operand& out);
/// -1, 0 or 1.
void sign(const Operand& x, const Operand& out);
void square(const Operand& x, const Operand& out);
/// min(max(x, low), high); low <= high. Bounds that are absent: the infinities, or the integer type's limits.
void clip(const Operand& x, const Number& low, const Number& high, const Operand& out);
/// max(x, 0)
void relu(const Operand& x, const Operand& out);

// Floating.
void sqrt(const Operand& x, const Operand& out);
void rsqrt(const Operand& x, const Operand& out);
void reciprocal(const Operand& x, const Operand& out);
void exp(const Operand& x, const Operand& out);
void log(const Operand& x, const Operand& out);
void log1p(const Operand& x, const Operand& out);
void sin(const Operand& x, const Operand& out);
void cos(const Operand& x, const Operand& out);
void tanh(const Operand& x, const Operand& out);
void erf(const Operand& x, const Operand& out);
/// To integers: down, up, towards zero, to nearest with ties to even.
void floor(const Operand& x, const Operand& out);
void ceil(const Operand& x, const Operand& out);
void trunc(const Operand& x, const Operand& out);
void round(const Operand& x, const Operand& out);

// Any dtype; out is bool.
void logical_not(const Operand& x, const Operand& out);
void isnan(const Operand& x, const Operand& out);
void isinf(const Operand& x, const Operand& out);
void isfinite(const Operand& x, const Operand& out);

}  // namespace weft::kernels::cpu

// Element-wise functions of one tensor: out[i] = f(x[i]). Shapes equal, dtypes equal unless noted. The floating ones take
// f32, f64, bf16 and f16 (computed in float); NaN propagates through all of them.
#pragma once

#include <optional>

#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"

namespace weft::kernels::cpu {

// All dtypes but bool. Integers wrap.
void neg(const Operand& x, const Operand& out);
void abs(const Operand& x, const Operand& out);
/// -1, 0 or 1.
void sign(const Operand& x, const Operand& out);
void square(const Operand& x, const Operand& out);
/// min(max(x, low), high); low <= high, either may be absent.
void clip(const Operand& x, const std::optional<Scalar>& low, const std::optional<Scalar>& high, const Operand& out);
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

// Activations, floating.
/// 1 / (1 + exp(-x))
void sigmoid(const Operand& x, const Operand& out);
/// x where x > 0, slope * x elsewhere.
void leaky_relu(const Operand& x, double slope, const Operand& out);
/// x * sigmoid(x)
void silu(const Operand& x, const Operand& out);
/// log(1 + exp(x))
void softplus(const Operand& x, const Operand& out);

/// x * Phi(x), or its approximation by tanh (Hendrycks and Gimpel, arXiv 1606.08415).
void gelu(const Operand& x, bool tanh_form, const Operand& out);

// Their fused gradients, floating: `g` flows into the activation's result.
/// g where y > 0, else 0; y is relu's result (or its input). A NaN in y lets g pass.
void relu_backward(const Operand& g, const Operand& y, const Operand& out);
/// g where x > 0, slope * g elsewhere.
void leaky_relu_backward(const Operand& g, const Operand& x, double slope, const Operand& out);
/// g * y * (1 - y), y = sigmoid(x)
void sigmoid_backward(const Operand& g, const Operand& y, const Operand& out);
/// g * (1 - y * y), y = tanh(x)
void tanh_backward(const Operand& g, const Operand& y, const Operand& out);
/// g * s * (1 + x * (1 - s)), s = sigmoid(x)
void silu_backward(const Operand& g, const Operand& x, const Operand& out);
/// g times the derivative of gelu at x.
void gelu_backward(const Operand& g, const Operand& x, bool tanh_form, const Operand& out);

}  // namespace weft::kernels::cpu

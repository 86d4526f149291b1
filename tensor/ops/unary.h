// Element-wise functions of one tensor. Shape and memory order are kept; NaN and Inf propagate. Functions that leave the
// integers (exp, sqrt, ...) take integers too and give f32.
#pragma once

#include "tensor/apply.h"

namespace weft {

Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);
/// -1, 0 or 1 (NaN for NaN); its gradient is 0.
Tensor sign(const Tensor& x);
Tensor square(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor reciprocal(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
/// log(1 + x), accurate near 0.
Tensor log1p(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
/// max(x, 0); NaN stays NaN; gradient 0 at 0.
Tensor relu(const Tensor& x);
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// How gelu is computed: x Phi(x) by erf, or the tanh form of Hendrycks and Gimpel (arXiv 1606.08415).
enum class Gelu { exact, tanh };
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);
/// x sigmoid(x).
Tensor silu(const Tensor& x);
/// log(1 + e^x), linear where that overflows.
Tensor softplus(const Tensor& x);
Tensor erf(const Tensor& x);
/// x limited to [min, max], either may be absent. Error where min > max. NaN propagates; gradient 1 at the bounds.
Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max);

}  // namespace weft

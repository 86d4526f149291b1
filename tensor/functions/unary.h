// Element-wise functions of one tensor: neg, abs, sign, square, relu, sqrt, rsqrt, reciprocal, exp, log, log1p, sin, cos,
// tanh, sigmoid, silu, softplus, erf, and those below. Shape and memory order are kept; NaN and Inf propagate. Functions that
// leave the integers (exp, sqrt, ...) take integers and bool too and give f32. A temporary's memory is used again where
// nothing else holds it.
#pragma once

#include <optional>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

// The formulas are beside the rows.
#define WEFT_UNARY(Op, function, policy) \
  Tensor function(const Tensor& x);      \
  Tensor function(Tensor&& x);
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

/// x where x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// How gelu is computed: x Phi(x) by erf, or the tanh form of Hendrycks and Gimpel (arXiv 1606.08415).
enum class Gelu { exact, tanh };
/// Both forms are NaN at -inf (-inf times 0, as in PyTorch), and -0 where the factor has vanished before.
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);
/// x limited to [min, max], either may be absent. Error where min > max. NaN propagates; gradient 1 at the bounds.
Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max);
/// PyTorch's name of clip().
inline Tensor clamp(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max) { return clip(x, min, max); }

}  // namespace weft

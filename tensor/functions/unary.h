// Element-wise functions of one tensor: neg, abs, sign, square, relu, floor, ceil, round, trunc, bitwise_not (~), sqrt,
// rsqrt, reciprocal, exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh,
// asinh, acosh, atanh, sigmoid, silu, softplus, erf, erfc, and those below. special.h and activation.h have more. Shape
// and memory order are kept; NaN and Inf propagate. Functions whose results are not integers (exp, sqrt,
// ...) take integers and bool too and give f32. A temporary's memory is used again where nothing else holds it.
#pragma once

#include <optional>

#include "tensor/core/scalar.h"
#include "tensor/functions/unary_rows.h"

namespace weft {

// The formulas are beside the rows.
#define WEFT_UNARY WEFT_UNARY_DECLARATION
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }
/// To `decimals` places, halves to the even digit; negative ones round to tens, hundreds... DtypeError for integers
/// then.
Tensor round(const Tensor& x, int64_t decimals);
/// sign(); PyTorch's other name.
inline Tensor sgn(const Tensor& x) { return sign(x); }
/// x pi / 180, and back.
Tensor deg2rad(const Tensor& x);
Tensor rad2deg(const Tensor& x);
struct NanToNumOptions {
  double nan = 0;
  std::optional<Scalar> posinf = std::nullopt;
  std::optional<Scalar> neginf = std::nullopt;
};
/// NaN becomes `nan`, inf `posinf` and -inf `neginf` (the largest and lowest value of the dtype where absent). The
/// gradient is 0 where a value was replaced.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<Scalar> posinf = std::nullopt,
                  std::optional<Scalar> neginf = std::nullopt);
inline Tensor nan_to_num(const Tensor& x, const NanToNumOptions& options) {
  return nan_to_num(x, options.nan, options.posinf, options.neginf);
}

/// x where x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// How gelu is computed: x Phi(x) by erf, or the tanh form of Hendrycks and Gimpel (arXiv 1606.08415).
enum class Gelu { exact, tanh };
/// Both forms are NaN at -inf (-inf times 0, as in PyTorch), and -0 where the factor has vanished before.
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);
/// x limited to [min, max], either may be absent. Error where min > max. NaN propagates, also from a bound;
/// gradient 1 at the bounds.
Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt);
/// Bounds that broadcast with x: minimum(maximum(x, min), max). NaN propagates; at a bound x has all of the gradient.
Tensor clip(const Tensor& x, const Tensor& min, const Tensor& max);
inline Tensor clamp(const Tensor& x, const Tensor& min, const Tensor& max) { return clip(x, min, max); }
/// One bound alone, a number or a tensor (binary.h).
inline Tensor clamp_min(const Tensor& x, const Scalar& min) { return clip(x, min, std::nullopt); }
inline Tensor clamp_max(const Tensor& x, const Scalar& max) { return clip(x, std::nullopt, max); }
/// PyTorch's name of clip().
inline Tensor clamp(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) {
  return clip(x, min, max);
}

}  // namespace weft

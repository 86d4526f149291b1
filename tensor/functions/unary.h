// Element-wise functions of one tensor: neg, abs, sign, square, relu, floor, ceil, round, trunc, bitwise_not (~), sqrt,
// rsqrt, reciprocal, exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh,
// asinh, acosh, atanh, sigmoid, silu, softplus, erf, erfc, and those below. special.h and activation.h have more. The
// result has the shape and memory order of the input. NaN and Inf propagate. Functions whose results are not integers
// (exp, sqrt, ...) also take integers and bool and give f32. The result reuses the memory of a temporary operand if no
// other tensor holds it.
#pragma once

#include <optional>

#include "tensor/core/scalar.h"
#include "tensor/functions/unary_rows.h"

namespace weft {

// tensor/ops/unary.inc gives the formula of each function.
#define WEFT_UNARY WEFT_UNARY_DECLARATION
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

inline Tensor operator~(const Tensor& x) { return bitwise_not(x); }
/// Rounds to `decimals` decimal places; halves are rounded to the even digit. Negative decimals round to tens,
/// hundreds, ..., and are a DtypeError for integers.
Tensor round(const Tensor& x, int64_t decimals);
/// The same as sign(), PyTorch's other name.
inline Tensor sgn(const Tensor& x) { return sign(x); }
/// x * pi / 180, and x * 180 / pi.
Tensor deg2rad(const Tensor& x);
Tensor rad2deg(const Tensor& x);
struct NanToNumOptions {
  double nan = 0;
  std::optional<Scalar> posinf = std::nullopt;
  std::optional<Scalar> neginf = std::nullopt;
};
/// Replaces NaN by `nan`, +infinity by `posinf` and -infinity by `neginf`. posinf and neginf default to the largest and
/// lowest value of the dtype. The gradient is 0 at replaced elements.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<Scalar> posinf = std::nullopt,
                  std::optional<Scalar> neginf = std::nullopt);
inline Tensor nan_to_num(const Tensor& x, const NanToNumOptions& options) {
  return nan_to_num(x, options.nan, options.posinf, options.neginf);
}

/// x where x > 0, else slope * x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// The formula of gelu: exact is x Phi(x), with erf; tanh is the approximation of Hendrycks and Gimpel (arXiv
/// 1606.08415).
enum class Gelu { exact, tanh };
/// x Phi(x), where Phi is the distribution function of the standard normal distribution. Both forms give NaN at
/// -infinity (as in PyTorch), and -0 at finite x so negative that Phi(x) is rounded to 0.
Tensor gelu(const Tensor& x, Gelu form = Gelu::exact);
/// x limited to [min, max]; either bound may be absent. NaN propagates, also from a bound. The gradient at a bound is
/// 1. Error if min > max (PyTorch gives max).
Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt);
Tensor clip(Tensor&& x, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt);
/// The same with tensors as bounds: minimum(maximum(x, min), max); they broadcast with x. NaN propagates. Where x
/// equals a bound, x gets the whole gradient.
Tensor clip(const Tensor& x, const Tensor& min, const Tensor& max);
inline Tensor clamp(const Tensor& x, const Tensor& min, const Tensor& max) { return clip(x, min, max); }
/// clip() with only one bound. binary.h has the overloads for a tensor as the bound.
inline Tensor clamp_min(const Tensor& x, const Scalar& min) { return clip(x, min, std::nullopt); }
inline Tensor clamp_max(const Tensor& x, const Scalar& max) { return clip(x, std::nullopt, max); }
/// The same as clip(), under PyTorch's name.
inline Tensor clamp(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max = std::nullopt) {
  return clip(x, min, max);
}

}  // namespace weft

// Element-wise arithmetic of two tensors, or of a tensor and a number: add, sub, mul, div, pow, maximum, minimum,
// remainder (%), fmod, floor_divide, clamp_min, clamp_max, atan2, hypot, logaddexp, xlogy, copysign, nextafter, fmax,
// fmin, bitwise_and (&), bitwise_or (|), bitwise_xor (^), bitwise_left_shift (<<), bitwise_right_shift (>>), and the
// operators. Operands broadcast (aligned right; equal or 1) and are promoted to promote(a, b); a number or a tensor
// without axes does not widen within its category. IEEE-754 throughout: nothing is sanitised. ShapeError where shapes
// do not broadcast, DtypeError for bool, except in add and mul of bool with bool (or, and), maximum, minimum,
// clamp_min, clamp_max, the bitwise operators without shifts, and functions that leave the integers (div, atan2, hypot,
// ...), which give f32; nextafter takes f32 and f64 alone. The memory of a temporary is used again for the result where
// nothing else holds it.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

// The formulas are beside the rows. The gradient of pow at a = 0 follows PyTorch: 0 where b = 0; d/db is 0
// where a = 0 and b >= 0. DtypeError for an integer tensor to a negative
// integer; in an integer tensor of exponents, a negative one gives 0 (1 and -1 for the bases 1 and -1).
#define WEFT_BINARY(Op, function, policy)            \
  Tensor function(const Tensor& a, const Tensor& b); \
  Tensor function(Tensor&& a, const Tensor& b);      \
  Tensor function(const Tensor& a, Tensor&& b);      \
  Tensor function(Tensor&& a, Tensor&& b);
#define WEFT_BINARY_OR_NUMBER(Op, function, policy)  \
  WEFT_BINARY(Op, function, policy)                  \
  Tensor function(const Tensor& a, const Scalar& b); \
  Tensor function(const Scalar& a, const Tensor& b);
#define WEFT_WITH_SCALAR(Op, function, policy)       \
  Tensor function(const Tensor& a, const Scalar& b); \
  Tensor function(Tensor&& a, const Scalar& b);
#define WEFT_SCALAR_WITH(Op, function, policy)       \
  Tensor function(const Scalar& a, const Tensor& b); \
  Tensor function(const Scalar& a, Tensor&& b);
#include "tensor/ops/binary.inc"

/// PyTorch's max and min of two tensors: maximum(), minimum(). Templates, so that max(x, {}) takes axes.
template <std::same_as<Tensor> T> Tensor max(const Tensor& a, const T& b) { return maximum(a, b); }
template <std::same_as<Tensor> T> Tensor min(const Tensor& a, const T& b) { return minimum(a, b); }

/// a / b rounded: "floor" is floor_divide(), "trunc" rounds to 0; integers stay integers. Error for another mode.
Tensor div(const Tensor& a, const Tensor& b, std::string_view rounding_mode);
Tensor div(const Tensor& a, const Scalar& b, std::string_view rounding_mode);
/// The greatest common divisor and the least common multiple of integers, 0 or more; 0 where both are (one is) 0.
/// No gradient. DtypeError for other dtypes.
Tensor gcd(const Tensor& a, const Tensor& b);
Tensor lcm(const Tensor& a, const Tensor& b);
/// pow() in f64, whatever the dtypes.
Tensor float_power(const Tensor& a, const Tensor& b);
Tensor float_power(const Tensor& a, double b);
/// x 2^exponents; integers give f32.
Tensor ldexp(const Tensor& x, const Tensor& exponents);
/// a + alpha b, a - alpha b. DtypeError for a floating alpha beside integers.
Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha);
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha);
Tensor sub(const Tensor& a, const Scalar& b);
Tensor sub(Tensor&& a, const Scalar& b);
inline Tensor add(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor add(const Scalar& a, Tensor&& b) { return add(std::move(b), a); }
inline Tensor mul(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor mul(const Scalar& a, Tensor&& b) { return mul(std::move(b), a); }

#define WEFT_OPERATOR(sign, function)                                                                  \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return function(a, b); }             \
  inline Tensor operator sign(Tensor&& a, const Tensor& b) { return function(std::move(a), b); }       \
  inline Tensor operator sign(const Tensor& a, Tensor&& b) { return function(a, std::move(b)); }       \
  inline Tensor operator sign(Tensor&& a, Tensor&& b) { return function(std::move(a), std::move(b)); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return function(a, b); }             \
  inline Tensor operator sign(Tensor&& a, const Scalar& b) { return function(std::move(a), b); }       \
  inline Tensor operator sign(const Scalar& a, const Tensor& b) { return function(a, b); }             \
  inline Tensor operator sign(const Scalar& a, Tensor&& b) { return function(a, std::move(b)); }
WEFT_OPERATOR(+, add)
WEFT_OPERATOR(-, sub)
WEFT_OPERATOR(*, mul)
WEFT_OPERATOR(/, div)
#undef WEFT_OPERATOR
#define WEFT_OPERATOR(sign, function)                                                      \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return function(a, b); } \
  inline Tensor operator sign(const Scalar& a, const Tensor& b) { return function(a, b); }
WEFT_OPERATOR(%, remainder)
WEFT_OPERATOR(&, bitwise_and)
WEFT_OPERATOR(|, bitwise_or)
WEFT_OPERATOR(^, bitwise_xor)
WEFT_OPERATOR(<<, bitwise_left_shift)
WEFT_OPERATOR(>>, bitwise_right_shift)
#undef WEFT_OPERATOR

}  // namespace weft

// Element-wise arithmetic of two tensors, or of a tensor and a number: add, sub, mul, div, pow, maximum, minimum,
// remainder (%), fmod, floor_divide, clamp_min, clamp_max, atan2, hypot, logaddexp, xlogy, xlog1py, zeta, igamma,
// igammac, copysign, nextafter, fmax, fmin, bitwise_and (&), bitwise_or (|), bitwise_xor (^), bitwise_left_shift (<<),
// bitwise_right_shift (>>), and the operators. Operands broadcast as in NumPy and are promoted to promote(a, b); a
// number or a 0-d tensor does not widen within its category. Results follow IEEE-754: NaN and infinity are not
// replaced. ShapeError if shapes do not broadcast. DtypeError for bool, except in add and mul of bool with bool (or,
// and), maximum, minimum, clamp_min, clamp_max, the bitwise operators without shifts, and functions whose results are
// not integers (div, atan2, hypot, ...), which give f32 for integers and bool. nextafter takes only f32 and f64. The
// result reuses the memory of a temporary operand if no other tensor holds it.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

// tensor/ops/binary.inc gives the formula of each function. The gradients of pow at a = 0 follow PyTorch: d/da is 0
// where b = 0, and d/db is 0 where b >= 0. pow of an integer tensor and a negative integer is a DtypeError. If the
// exponents are an integer tensor, a negative exponent gives 0 (1 or -1 for the bases 1 and -1).
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

/// The same as maximum() and minimum(), under PyTorch's names. Templates, so that the {} of max(x, {}) means axes.
template <std::same_as<Tensor> T> Tensor max(const Tensor& a, const T& b) { return maximum(a, b); }
template <std::same_as<Tensor> T> Tensor min(const Tensor& a, const T& b) { return minimum(a, b); }

/// a / b, rounded: "floor" rounds down (floor_divide()), "trunc" rounds towards 0. Integers give integers. Error for
/// any other mode.
Tensor div(const Tensor& a, const Tensor& b, std::string_view rounding_mode);
Tensor div(const Tensor& a, const Scalar& b, std::string_view rounding_mode);
/// The greatest common divisor and the least common multiple of integers. Results are never negative; gcd(0, 0) = 0 and
/// lcm(a, 0) = 0. No gradient. DtypeError for other dtypes.
Tensor gcd(const Tensor& a, const Tensor& b);
Tensor lcm(const Tensor& a, const Tensor& b);
/// pow() of the operands cast to f64.
Tensor float_power(const Tensor& a, const Tensor& b);
Tensor float_power(const Tensor& a, double b);
/// The dtype of a + b. A number, or a tensor without axes, beside a tensor with axes changes the dtype only if its
/// category (bool < integer < floating) is higher; promote(a.dtype(), b.dtype()) does not look at axes.
DType result_type(const Tensor& a, const Tensor& b);
inline DType result_type(const Tensor& a, const Scalar& b) { return promote_scalar(a.dtype(), b); }
inline DType result_type(const Scalar& a, const Tensor& b) { return promote_scalar(b.dtype(), a); }
/// x = mantissa * 2^exponent, exactly, with 0.5 <= |mantissa| < 1.
struct FrexpResult {
  Tensor mantissa;  // x's dtype
  Tensor exponent;  // i32; 0 where x is 0, infinite or NaN, which then is the mantissa
};
/// The mantissa and the exponent of each element. The gradient of the mantissa is 2^-exponent. DtypeError unless
/// floating.
FrexpResult frexp(const Tensor& x);
/// x * 2^exponents, also where only the power is beyond the range of the dtype. Integers give f32.
Tensor ldexp(const Tensor& x, const Tensor& exponents);
/// a + alpha b and a - alpha b, in the dtype of a + b: of bool tensors add() is `or`, and sub() a DtypeError.
/// DtypeError for a floating alpha if neither tensor is floating.
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

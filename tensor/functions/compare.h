// Comparisons and logic (bool results, no gradient), and where(). Operands broadcast and are promoted as in arithmetic
// (functions/binary.h). An integer that the tensor's dtype cannot hold is compared in i64, so that the result is exact.
// ShapeError if shapes do not broadcast.
#pragma once

#include <concepts>

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

// eq, ne, lt, le, gt, ge; logical_and, logical_or, logical_xor (on x != 0); logical_not, isnan, isfinite, isinf,
// signbit.
#define WEFT_COMPARE(Op, ScalarOp, function)         \
  Tensor function(const Tensor& a, const Tensor& b); \
  Tensor function(const Tensor& a, const Scalar& b);
#define WEFT_LOGICAL(Op, function) Tensor function(const Tensor& a, const Tensor& b);
#define WEFT_PREDICATE(Op, function) Tensor function(const Tensor& x);
#include "tensor/ops/compare.inc"

/// a where `condition` (bool) is true, else b; all three broadcast. An element that is not selected gets the gradient
/// 0, also if it is NaN. What computed it may still make NaN of that 0, as in PyTorch: sqrt(x) does below 0, so write
/// where(x > 0, sqrt(where(x > 0, x, 1)), 0). DtypeError if the condition is not bool.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// The same with numbers for a or b; a number is promoted like a 0-d tensor. Two numbers give f32, i64 or bool.
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);
/// Whether x is +infinity, or -infinity.
Tensor isposinf(const Tensor& x);
Tensor isneginf(const Tensor& x);
/// Whether shape, dtype and all values are equal (NaN is not equal to NaN).
bool equal(const Tensor& a, const Tensor& b);
/// |a - b| <= atol + rtol |b|, computed in f64; a and b broadcast. With equal_nan, NaN is close to NaN. Error if rtol
/// or atol is negative.
Tensor isclose(const Tensor& a, const Tensor& b, const CloseOptions& options = {});
/// Whether isclose() is true for all elements.
bool allclose(const Tensor& a, const Tensor& b, const CloseOptions& options = {});
/// The same with separate arguments. Templates, so that allclose(a, b, {}) means default options and not rtol = 0.
template <std::convertible_to<double> T>
Tensor isclose(const Tensor& a, const Tensor& b, T rtol, double atol = 1e-8, bool equal_nan = false) {
  return isclose(a, b, CloseOptions{static_cast<double>(rtol), atol, equal_nan});
}
template <std::convertible_to<double> T>
bool allclose(const Tensor& a, const Tensor& b, T rtol, double atol = 1e-8, bool equal_nan = false) {
  return allclose(a, b, CloseOptions{static_cast<double>(rtol), atol, equal_nan});
}

// C++20 would rewrite `2.0 == t` into a reversed call and find it ambiguous: numbers on the left have overloads of
// their own.
#define WEFT_OPERATOR(sign, function, reversed)                                            \
  inline Tensor operator sign(const Tensor& a, const Tensor& b) { return function(a, b); } \
  inline Tensor operator sign(const Tensor& a, const Scalar& b) { return function(a, b); } \
  inline Tensor operator sign(const Scalar& a, const Tensor& b) { return reversed(b, a); }
WEFT_OPERATOR(==, eq, eq)
WEFT_OPERATOR(!=, ne, ne)
WEFT_OPERATOR(<, lt, gt)
WEFT_OPERATOR(<=, le, ge)
WEFT_OPERATOR(>, gt, lt)
WEFT_OPERATOR(>=, ge, le)
#undef WEFT_OPERATOR

}  // namespace weft

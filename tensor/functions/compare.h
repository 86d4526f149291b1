// Comparisons and logic (bool results, no gradient), and the choice between two tensors. Operands broadcast and are
// promoted as in arithmetic (functions/binary.h); an integer that the tensor's dtype cannot hold is compared in i64,
// so the answer is exact. ShapeError where shapes do not broadcast.
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

/// a where `condition` (bool) holds, else b; all three broadcast. A NaN on the side not taken does not reach the
/// gradient. DtypeError for another condition.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// A number for either side; it counts as a tensor without axes. Of two numbers the result is f32, i64 or bool.
Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b);
Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b);
Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b);
/// Whether x is inf, -inf.
Tensor isposinf(const Tensor& x);
Tensor isneginf(const Tensor& x);
/// Shape, dtype and every value are the same (NaN differs from NaN).
bool equal(const Tensor& a, const Tensor& b);
struct CloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;  // NaN equals NaN
};
/// |a - b| <= atol + rtol |b|, NaN equal to NaN where asked; broadcasts. Computed in f64. Error where rtol or atol is
/// negative.
Tensor isclose(const Tensor& a, const Tensor& b, const CloseOptions& options = {});
/// isclose() everywhere.
bool allclose(const Tensor& a, const Tensor& b, const CloseOptions& options = {});
/// Templates, so that allclose(a, b, {}) takes options, not rtol = 0.
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

#include "tensor/functions/compare.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/compare.h"

namespace weft {
namespace {

/// x compared with a number, in a dtype that holds both.
template <class Op> Tensor with_number(const Tensor& x, const Scalar& value) {
  const DType dtype = promote_scalar(x.dtype(), value);
  // Above every i64, as is 2^64, whatever i64 is rounded to in f64.
  if (value.exceeds_i64() && !is_floating(dtype)) return dispatch::apply(Op{Scalar(0x1p64)}, cast(x, f64));
  return dispatch::apply(Op{value}, cast(x, value.fits(dtype) ? dtype : i64));
}

}  // namespace

#define WEFT_COMPARE(Op, ScalarOp, function)          \
  Tensor function(const Tensor& a, const Tensor& b) { \
    ErrorFrame frame(#function, a, b);                \
    return dispatch::apply(op::Op{}, a, b);           \
  }                                                   \
  Tensor function(const Tensor& a, const Scalar& b) { \
    ErrorFrame frame(#function, a);                   \
    return with_number<op::ScalarOp>(a, b);           \
  }
#define WEFT_LOGICAL(Op, function)                                                                       \
  Tensor function(const Tensor& a, const Tensor& b) {                                                    \
    ErrorFrame frame(#function, a, b);                                                                   \
    if (a.dtype() == b.dtype()) return dispatch::apply(op::Op{}, a, b);                                  \
    return dispatch::apply(op::Op{}, cast(a, boolean), cast(b, boolean)); /* promotion may round to 0 */ \
  }
#define WEFT_PREDICATE(Op, function)     \
  Tensor function(const Tensor& x) {     \
    ErrorFrame frame(#function, x);      \
    return dispatch::apply(op::Op{}, x); \
  }
#include "tensor/ops/compare.inc"

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  ErrorFrame frame("where", condition, a, b);
  return dispatch::apply(op::Where{}, condition, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Scalar& b) {
  ErrorFrame frame("where", condition, a);
  return where(condition, a, full({}, b, promote_scalar(a.dtype(), b), a.device()));
}

Tensor where(const Tensor& condition, const Scalar& a, const Tensor& b) {
  ErrorFrame frame("where", condition, b);
  return where(condition, full({}, a, promote_scalar(b.dtype(), a), b.device()), b);
}

Tensor where(const Tensor& condition, const Scalar& a, const Scalar& b) {
  ErrorFrame frame("where", condition);
  return where(condition, full({}, a, std::nullopt, condition.device()), full({}, b, std::nullopt, condition.device()));
}

Tensor isposinf(const Tensor& x) {
  ErrorFrame frame("isposinf", x);
  return logical_and(isinf(x), x > 0);
}

Tensor isneginf(const Tensor& x) {
  ErrorFrame frame("isneginf", x);
  return logical_and(isinf(x), x < 0);
}

namespace {

/// |a - b| in f64, which x and y are a and b in; of integers exact as long as f64 holds it.
Tensor distance(const Tensor& a, const Tensor& b, const Tensor& x, const Tensor& y) {
  const Tensor rounded = abs(sub(x, y));
  if (!is_integer(a.dtype()) || !is_integer(b.dtype())) return rounded;
  const Tensor exact = cast(abs(sub(cast(a, i64), cast(b, i64))), f64);
  return where(rounded < 0x1p53, exact, rounded);  // a larger difference may wrap
}

}  // namespace

bool equal(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("equal", a, b);
  return a.dtype() == b.dtype() && a.shape() == b.shape() && all(eq(a, b)).item<bool>();
}

Tensor isclose(const Tensor& a, const Tensor& b, const CloseOptions& options) {
  ErrorFrame frame("isclose", a, b);
  const auto& [rtol, atol, equal_nan] = options;
  if (!(rtol >= 0 && atol >= 0)) throw Error(text("rtol = ", rtol, " and atol = ", atol, " must be 0 or more"));
  Tensor x = cast(a.detach(), f64), y = cast(b.detach(), f64), apart = distance(a.detach(), b.detach(), x, y);
  // Infinities of one sign are close, and their difference is NaN.
  Tensor close = logical_or(eq(apart, 0.0), logical_and(eq(x, y), isinf(y)));
  if (equal_nan) close = logical_or(close, logical_and(isnan(x), isnan(y)));
  const Tensor finite = isfinite(y);
  x = Tensor();  // f64 is twice as large as most inputs
  return logical_or(close, logical_and(le(apart, add(mul(abs(std::move(y)), rtol), atol)), finite));
}

bool allclose(const Tensor& a, const Tensor& b, const CloseOptions& options) {
  ErrorFrame frame("allclose", a, b);
  return all(isclose(a, b, options)).item<bool>();
}

}  // namespace weft

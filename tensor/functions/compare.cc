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

/// The dtype in which `x` is compared with a number.
DType compared_dtype(const Tensor& x, const Scalar& value) {
  const DType dtype = promote_scalar(x.dtype(), value);
  return fits(value, dtype) ? dtype : i64;
}

}  // namespace

#define WEFT_COMPARE(Op, ScalarOp, function)                                \
  Tensor function(const Tensor& a, const Tensor& b) {                       \
    ErrorFrame frame(#function, a, b);                                      \
    return dispatch::apply(op::Op{}, a, b);                                 \
  }                                                                         \
  Tensor function(const Tensor& a, const Scalar& b) {                       \
    ErrorFrame frame(#function, a);                                         \
    return dispatch::apply(op::ScalarOp{b}, cast(a, compared_dtype(a, b))); \
  }
#define WEFT_LOGICAL(Op, function)                                        \
  Tensor function(const Tensor& a, const Tensor& b) {                     \
    ErrorFrame frame(#function, a, b);                                    \
    return dispatch::apply(op::Op{}, cast(a, boolean), cast(b, boolean)); \
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

bool equal(const Tensor& a, const Tensor& b) {
  ErrorFrame frame("equal", a, b);
  return a.dtype() == b.dtype() && a.shape() == b.shape() && all(eq(a, b)).item<bool>();
}

Tensor isclose(const Tensor& a, const Tensor& b, const CloseOptions& options) {
  ErrorFrame frame("isclose", a, b);
  const auto& [rtol, atol, equal_nan] = options;
  if (!(rtol >= 0 && atol >= 0)) throw Error(text("rtol = ", rtol, " and atol = ", atol, " must be 0 or more"));
  const Tensor x = cast(a.detach(), f64);
  const Tensor y = cast(b.detach(), f64);
  // Equal values first: the difference of two infinities is NaN.
  Tensor close = logical_or(eq(x, y), logical_and(le(abs(sub(x, y)), add(mul(abs(y), rtol), atol)), isfinite(y)));
  if (equal_nan) close = logical_or(close, logical_and(isnan(x), isnan(y)));
  return close;
}

bool allclose(const Tensor& a, const Tensor& b, const CloseOptions& options) {
  ErrorFrame frame("allclose", a, b);
  return all(isclose(a, b, options)).item<bool>();
}

}  // namespace weft

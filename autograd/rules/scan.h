// Rules of scans.
#pragma once

#include <limits>

#include "autograd/rule.h"
#include "autograd/rules/choice_rule.h"
#include "tensor/adjoints/scan.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/scan.h"

namespace weft::autograd {

namespace formulas {
/// x shifted by one along `axis`: element i is x[i - 1], element 0 is `first`.
inline Tensor delayed(const Tensor& x, int64_t axis, double first) {
  if (x.size(axis) == 0) return x;
  return cat({full_like(slice(x, axis, 0, 1), first), slice(x, axis, 0, -1)}, axis);
}
/// x shifted by one in the other direction: element i is x[i + 1], the last one is 0.
inline Tensor advanced(const Tensor& x, int64_t axis) {
  if (x.size(axis) == 0) return x;
  return cat({slice(x, axis, 1), zeros_like(slice(x, axis, 0, 1))}, axis);
}

/// dx[k] is the sum of g[i] e^(x[k] - y[i]) over i >= k. With r[k] = g[k] + e^(y[k] - y[k + 1]) r[k + 1] this equals
/// e^(x - y) r, and no exponent is above 0. Between two infinities there is no step.
inline Tensor logcumsumexp_gradient(const Tensor& g, const Tensor& x, const Tensor& y, int64_t axis) {
  const Tensor nothing = y == -std::numeric_limits<double>::infinity(), zero = zeros_like(y);
  if (y.size(axis) == 0) return zero;
  const Tensor level = nan_to_num(y, std::numeric_limits<double>::quiet_NaN());
  const Tensor next = cat({slice(level, axis, 1), slice(level, axis, -1)}, axis);
  const Tensor r = adjoint::linear_recurrence(exp(level - next), g, axis, true);
  return where(nothing, zero, exp(where(nothing, zero, x - y)) * r);
}
}  // namespace formulas

WEFT_GRADIENT(Cumsum) = per_input([](const op::Cumsum& op, Grad g) {
  return flip(cumsum(flip(g, {op.axis}), op.axis), {op.axis});
});
// The gradient of x[k] is the product of the elements before k, times r[k] = g[k] + x[k + 1] r[k + 1]. There is no
// division, so that zeros need no special case.
WEFT_GRADIENT(Cumprod) = per_input([](const op::Cumprod& op, Grad g, Input<0> x) {
  return formulas::delayed(cumprod(x, op.axis), op.axis, 1) *
         adjoint::linear_recurrence(formulas::advanced(x, op.axis), g, op.axis, true);
});
WEFT_GRADIENT(Logcumsumexp) = per_input([](const op::Logcumsumexp& op, Grad g, Input<0> x, Output y) {
  return formulas::logcumsumexp_gradient(g, x, y, op.axis);
});
WEFT_GRADIENT(CumulativeExtremum) = formulas::choice_rule<op::CumulativeExtremum>;

// The gradient of b[i] is r[i] = g[i] + a[i + 1] r[i + 1]; that of a[i] is r[i] y[i - 1].
WEFT_GRADIENT(LinearRecurrence) = joint([](const op::LinearRecurrence& op, Grad g, Input<0> a, Output y, Needs needs) {
  const Tensor r = adjoint::linear_recurrence(formulas::advanced(a, op.axis), g, op.axis, true);
  return std::array<Tensor, 2>{needs[0] ? r * formulas::delayed(y, op.axis, 0) : Tensor(), r};
});

}  // namespace weft::autograd

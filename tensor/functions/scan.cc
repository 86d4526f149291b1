#include "tensor/functions/scan.h"

#include <algorithm>
#include <vector>

#include "tensor/adjoints/scan.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/scan.h"

namespace weft {
namespace {

Tensor in_shape(const Tensor& y, const Tensor& x) { return x.rank() == 0 ? reshape(y, {}) : y; }

template <class Op> Tensor scan(const char* name, const Tensor& x, int64_t axis) {
  ErrorFrame frame(name, x);
  Op op;
  op.axis = normalize_axis_or_scalar(axis, x.rank());
  return in_shape(dispatch::apply(op, atleast_1d(x)), x);
}

ValuesAndIndices extreme(const char* name, const Tensor& x, int64_t axis, bool largest) {
  ErrorFrame frame(name, x);
  const int64_t a = normalize_axis_or_scalar(axis, x.rank());
  const auto [values, indices] = dispatch::apply(op::CumulativeExtremum{a, largest}, atleast_1d(x));
  return {in_shape(values, x), in_shape(indices, x)};
}

int64_t axis_of(const Tensor& x, int64_t axis) {
  if (x.rank() == 0) throw ShapeError("a tensor without axes has no neighbors");
  return normalize_axis(axis, x.rank());
}

/// The sums of adjacent elements along `axis`; those of integers in i64, as narrower ones may not hold them. DtypeError
/// for bool, whose sums are not numbers.
Tensor pairs(const Tensor& y, int64_t axis) {
  dispatch::check_accepted(y.dtype(), kNumbers);
  const Tensor wide = is_floating(y.dtype()) ? y : cast(y, i64);
  return slice(wide, axis, 1) + slice(wide, axis, 0, -1);
}
Tensor widened(const Tensor& x) { return x.dtype() == f64 ? x : cast(x, f32); }
/// Half the distance of adjacent elements of x, which has y's axes or is 1-D along `axis`.
Tensor half_widths(const Tensor& y, const Tensor& x, int64_t axis) {
  if (x.rank() != 1) return diff(x, 1, axis) * 0.5;
  if (x.size(0) != y.size(axis))
    throw ShapeError(text("x has ", x.size(0), " places, y ", y.size(axis), " samples on axis ", axis));
  return reshape(diff(x) * 0.5, internal::shape_along(axis, y.rank(), std::max<int64_t>(0, x.size(0) - 1)));
}

}  // namespace

Tensor cumsum(const Tensor& x, int64_t axis) { return scan<op::Cumsum>("cumsum", x, axis); }
Tensor cumprod(const Tensor& x, int64_t axis) { return scan<op::Cumprod>("cumprod", x, axis); }
Tensor logcumsumexp(const Tensor& x, int64_t axis) { return scan<op::Logcumsumexp>("logcumsumexp", x, axis); }
Tensor cumsum(const Tensor& x, int64_t axis, DType dtype) {
  ErrorFrame frame("cumsum", x);
  return cast(cumsum(cast(x, dtype), axis), dtype);  // i32 is summed in i64
}
Tensor cumprod(const Tensor& x, int64_t axis, DType dtype) {
  ErrorFrame frame("cumprod", x);
  return cast(cumprod(cast(x, dtype), axis), dtype);
}
ValuesAndIndices cummax(const Tensor& x, int64_t axis) { return extreme("cummax", x, axis, true); }
ValuesAndIndices cummin(const Tensor& x, int64_t axis) { return extreme("cummin", x, axis, false); }

Tensor adjoint::linear_recurrence(const Tensor& a, const Tensor& b, int64_t axis, bool reverse) {
  ErrorFrame frame("linear_recurrence", a, b);
  const op::LinearRecurrence op{{normalize_axis(axis, b.rank())}};
  return reverse ? flip(dispatch::apply(op, flip(a, {axis}), flip(b, {axis})), {axis}) : dispatch::apply(op, a, b);
}

Tensor diff(const Tensor& x, const DiffOptions& options) {
  ErrorFrame frame("diff", x);
  const auto& [n, axis, prepend, append] = options;
  const int64_t a = axis_of(x, axis);
  if (n < 0) throw Error(text("n must be 0 or more, not ", n));
  if (n == 0) return clone(x);
  std::vector<Tensor> parts;
  for (const Tensor* part : {&prepend, &x, &append}) {
    if (part->defined() && part->rank() != x.rank())
      throw ShapeError(text("prepend and append must have the ", x.rank(), " axes of x, not shape ", part->shape()));
    if (part->defined()) parts.push_back(*part);
  }
  Tensor out = parts.size() > 1 ? cat(parts, a) : x;
  for (int64_t i = 0; i < n && out.size(a) > 0; ++i) {
    const Tensor next = slice(out, a, 1), before = slice(out, a, 0, -1);
    out = out.dtype() == boolean ? logical_xor(next, before) : next - before;
  }
  return out;
}

Tensor trapezoid(const Tensor& y, double dx, int64_t axis) {
  ErrorFrame frame("trapezoid", y);
  const int64_t a = axis_of(y, axis);
  if (is_half_precision(y.dtype()))
    return cast(trapezoid(cast(y, f32), dx, a), y.dtype());  // their sum may exceed them
  return sum(pairs(y, a), a) * (0.5 * dx);
}
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t axis) {
  ErrorFrame frame("trapezoid", y, x);
  const int64_t a = axis_of(y, axis);
  if (is_half_precision(y.dtype())) return cast(trapezoid(cast(y, f32), widened(x), a), promote(y.dtype(), x.dtype()));
  return sum(pairs(y, a) * half_widths(y, x, a), a);
}
Tensor cumulative_trapezoid(const Tensor& y, double dx, int64_t axis) {
  ErrorFrame frame("cumulative_trapezoid", y);
  const int64_t a = axis_of(y, axis);
  if (is_half_precision(y.dtype())) return cast(cumulative_trapezoid(cast(y, f32), dx, a), y.dtype());
  return cumsum(pairs(y, a), a) * (0.5 * dx);
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t axis) {
  ErrorFrame frame("cumulative_trapezoid", y, x);
  const int64_t a = axis_of(y, axis);
  if (is_half_precision(y.dtype()))
    return cast(cumulative_trapezoid(cast(y, f32), widened(x), a), promote(y.dtype(), x.dtype()));
  return cumsum(pairs(y, a) * half_widths(y, x, a), a);
}

}  // namespace weft

// Scans: along an axis, element i of the result is made of elements 0 .. i of `x`. The same bits at any thread count. A
// tensor without axes takes axis 0 and -1.
#pragma once

#include <concepts>
#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// Sums and products so far, kept in double; bool and integers give i64. The gradient of cumprod is exact with zeros.
Tensor cumsum(const Tensor& x, int64_t axis);
Tensor cumprod(const Tensor& x, int64_t axis);
/// x is cast to `dtype` first.
Tensor cumsum(const Tensor& x, int64_t axis, DType dtype);
Tensor cumprod(const Tensor& x, int64_t axis, DType dtype);
/// log of the sum of e^x so far, stable. Floating dtypes.
Tensor logcumsumexp(const Tensor& x, int64_t axis);
/// The largest / smallest so far, and where it was last (i64), which alone gets the gradient; NaN stays.
ValuesAndIndices cummax(const Tensor& x, int64_t axis);
ValuesAndIndices cummin(const Tensor& x, int64_t axis);

struct DiffOptions {
  int64_t n = 1;
  int64_t axis = -1;
  Tensor prepend = {};
  Tensor append = {};
};
/// x[i + 1] - x[i] along `axis`, n times; for bool, whether they differ. `prepend` and `append`, where defined, are
/// joined to x first, before it and behind it. Error where n < 0, ShapeError for a tensor without axes.
Tensor diff(const Tensor& x, const DiffOptions& options = {});
/// A template, so that diff(x, {}) takes options, not n = 0.
template <std::convertible_to<int64_t> T>
Tensor diff(const Tensor& x, T n, int64_t axis = -1, const Tensor& prepend = {}, const Tensor& append = {}) {
  return diff(x, DiffOptions{static_cast<int64_t>(n), axis, prepend, append});
}
/// The integral of y over the trapezia between its samples, `dx` apart, or at the coordinates `x` (of y's shape, or
/// 1-D).
Tensor trapezoid(const Tensor& y, double dx = 1, int64_t axis = -1);
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t axis = -1);
/// The integral up to each sample but the first: the axis gets one shorter.
Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, int64_t axis = -1);
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t axis = -1);

}  // namespace weft

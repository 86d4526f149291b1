// Scans: element i of the result along an axis is computed from elements 0 .. i of `x`. The same bits at any thread
// count. A 0-d tensor accepts axis 0 and -1.
#pragma once

#include <concepts>

#include "tensor/tensor.h"

namespace weft {

/// The cumulative sum, or product, accumulated in double. Bool and integers give i64. The gradient of cumprod is exact
/// even if elements are 0.
Tensor cumsum(const Tensor& x, int64_t axis);
Tensor cumprod(const Tensor& x, int64_t axis);
/// The same after x is cast to `dtype`.
Tensor cumsum(const Tensor& x, int64_t axis, DType dtype);
Tensor cumprod(const Tensor& x, int64_t axis, DType dtype);
/// log(cumsum(e^x)) without overflow. x must be floating.
Tensor logcumsumexp(const Tensor& x, int64_t axis);
/// The cumulative maximum, or minimum, and its last position (i64); only the element at that position gets the
/// gradient. After a NaN, all further values are NaN.
ValuesAndIndices cummax(const Tensor& x, int64_t axis);
ValuesAndIndices cummin(const Tensor& x, int64_t axis);

struct DiffOptions {
  int64_t n = 1;
  int64_t axis = -1;
  Tensor prepend = {};
  Tensor append = {};
};
/// x[i + 1] - x[i] along `axis`, applied n times; for bool, whether the two differ. If defined, `prepend` and `append`
/// are first concatenated before and after x (n = 0 gives x). Error if n < 0, ShapeError for a 0-d tensor.
Tensor diff(const Tensor& x, const DiffOptions& options = {});
/// The same with separate arguments. A template, so that diff(x, {}) means default options and not n = 0.
template <std::convertible_to<int64_t> T>
Tensor diff(const Tensor& x, T n, int64_t axis = -1, const Tensor& prepend = {}, const Tensor& append = {}) {
  return diff(x, DiffOptions{static_cast<int64_t>(n), axis, prepend, append});
}
/// The integral of y along `axis` by the trapezoidal rule. The samples are `dx` apart, or at the coordinates `x` (of
/// y's shape, or 1-D). The result does not have the axis.
Tensor trapezoid(const Tensor& y, double dx = 1, int64_t axis = -1);
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t axis = -1);
/// The integral from the first sample to each later one; the size of the axis decreases by 1.
Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, int64_t axis = -1);
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t axis = -1);

}  // namespace weft

// Repeating, rolling and rotating tensors, and diagonals.
#pragma once

#include <concepts>
#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// Repeats `x` counts[i] times along axis i. There are at least as many counts as axes; more counts add axes on the
/// left.
Tensor repeat(const Tensor& x, const IntList& counts);
/// repeat(), but with fewer counts than axes, the missing counts on the left are 1.
Tensor tile(const Tensor& x, const IntList& counts);
/// Repeats each entry along `axis` `count` times in succession, or entry i counts[i] times (a single count applies to
/// all). Without an axis, x is flattened first.
Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis = std::nullopt);
Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int64_t> axis = std::nullopt);
/// Shifts entries by shifts[i] along axes[i]; entries shifted beyond one end reappear at the other. Without axes, the
/// flattened tensor is rolled by one shift. ShapeError if the numbers of shifts and axes differ.
Tensor roll(const Tensor& x, const IntList& shifts, const IntList& axes = {});
Tensor roll(const Tensor& x, std::integral auto shift) { return roll(x, IntList{static_cast<int64_t>(shift)}); }
Tensor roll(const Tensor& x, std::integral auto shift, int64_t axis) {
  return roll(x, IntList{static_cast<int64_t>(shift)}, IntList{axis});
}
/// Rotates `x` by `turns` * 90 degrees in the plane of the two axes, from axis0 towards axis1; a view. IndexError if
/// the axes are equal.
Tensor rot90(const Tensor& x, int64_t turns = 1, int64_t axis0 = 0, int64_t axis1 = 1);
/// A 1-D x gives a square matrix with x on the diagonal and zeros elsewhere. A 2-D x gives its diagonal as a vector (a
/// view). ShapeError for other ranks.
Tensor diag(const Tensor& x, int64_t offset = 0);
/// A square matrix with the elements of x, in row-major order, on the diagonal and zeros elsewhere.
Tensor diagflat(const Tensor& x, int64_t offset = 0);
/// Places the last axis of `x` on the diagonal of two new axes, which are axis0 and axis1 of the result; zeros
/// elsewhere. ShapeError for a 0-d tensor.
Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t axis0 = -2, int64_t axis1 = -1);
/// The row and column indices of the lower (upper) triangle of a (rows, columns) matrix, in row-major order: (2, n),
/// i64.
Tensor tril_indices(int64_t rows, int64_t columns, int64_t diagonal = 0, Device device = {});
Tensor triu_indices(int64_t rows, int64_t columns, int64_t diagonal = 0, Device device = {});

}  // namespace weft

// Tensors repeated, rotated and turned, and views with several axes moved or dropped.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// `x` repeated counts[i] times along axis i; there are at least as many counts as axes, new axes come on the left.
Tensor repeat(const Tensor& x, const IntList& counts);
/// The same, with ones in front where there are fewer counts than axes.
Tensor tile(const Tensor& x, const IntList& counts);
/// Each entry of `axis` `count` times in a row, or counts[i] times entry i (one count serves all). Without an axis: of
/// all elements in a row.
Tensor repeat_interleave(const Tensor& x, int64_t count, std::optional<int64_t> axis = std::nullopt);
Tensor repeat_interleave(const Tensor& x, const Tensor& counts, std::optional<int64_t> axis = std::nullopt);
/// Entries moved by `shifts` along `axes`, what leaves one end comes in at the other. Without axes: of all elements in
/// a row, by one shift. ShapeError where shifts and axes differ in number.
Tensor roll(const Tensor& x, const IntList& shifts, const IntList& axes = {});
/// `x` turned by `turns` quarters from the first of the two axes towards the second; a view. IndexError where the axes
/// are the same.
Tensor rot90(const Tensor& x, int64_t turns = 1, int64_t axis0 = 0, int64_t axis1 = 1);
/// flip of the second axis, of the first.
Tensor fliplr(const Tensor& x);
Tensor flipud(const Tensor& x);
/// Axes `sources` moved to `destinations`, the others in order.
Tensor movedim(const Tensor& x, const IntList& sources, const IntList& destinations);
inline Tensor moveaxis(const Tensor& x, const IntList& sources, const IntList& destinations) {
  return movedim(x, sources, destinations);
}
/// Without those of `axes` whose size is 1.
Tensor squeeze(const Tensor& x, const IntList& axes);
/// Two axes swapped (NumPy's name of transpose).
Tensor swapaxes(const Tensor& x, int64_t axis0, int64_t axis1);
/// A vector as the diagonal of a square matrix, the diagonal of a matrix as a vector (a view). ShapeError unless
/// x has one or two axes.
Tensor diag(const Tensor& x, int64_t offset = 0);
/// The last axis of `x` as a diagonal of two new axes (of the result), zero elsewhere. ShapeError for a tensor
/// without axes.
Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t axis0 = -2, int64_t axis1 = -1);
/// (2, n) i64: the rows and columns of the lower (upper) triangle of a matrix, in row-major order.
Tensor tril_indices(int64_t rows, int64_t columns, int64_t diagonal = 0, Device device = {});
Tensor triu_indices(int64_t rows, int64_t columns, int64_t diagonal = 0, Device device = {});

}  // namespace weft

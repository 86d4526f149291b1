// Copies of a tensor in which a part is replaced: the out-of-place forms of writing through a view.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// A row-major copy of `x` in which the elements of the view as_strided(x, shape, strides, offset) are replaced by
/// `src`, which has that shape. ShapeError if the view would exceed `x` or overlap itself.
Tensor as_strided_scatter(const Tensor& x, const Tensor& src, const Shape& shape, const Strides& strides,
                          int64_t offset = 0);
/// A copy of `x` with `src` (broadcast, cast to x's dtype) in place of select(x, axis, index).
Tensor select_scatter(const Tensor& x, const Tensor& src, int64_t axis, int64_t index);
/// A copy of `x` with `src` in place of slice(x, axis, start, end, step).
Tensor slice_scatter(const Tensor& x, const Tensor& src, int64_t axis = 0, std::optional<int64_t> start = std::nullopt,
                     std::optional<int64_t> end = std::nullopt, int64_t step = 1);
/// A copy of `x` with `src` in place of diagonal(x, offset, axis0, axis1).
Tensor diagonal_scatter(const Tensor& x, const Tensor& src, int64_t offset = 0, int64_t axis0 = 0, int64_t axis1 = 1);

}  // namespace weft

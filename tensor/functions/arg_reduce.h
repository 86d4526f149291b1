// Extrema with their positions. A 0-d tensor accepts axis 0 and -1.
#pragma once

#include <concepts>
#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// The extremum along one axis and its position (i64). If several elements are equal to the extremum, the position is
/// that of the first, and only this element gets the gradient. ShapeError if the axis has size 0.
ValuesAndIndices max_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
ValuesAndIndices min_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
/// The position (i64) of the first extremum along `axis`. Without an axis: its index in the flattened (row-major)
/// tensor. If there is a NaN, the result is the position of the first NaN.
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});
template <NoAxis T> Tensor argmax(const Tensor& x, T, KeepDim = {}) = delete;  // a bool is no axis
template <NoAxis T> Tensor argmin(const Tensor& x, T, KeepDim = {}) = delete;

}  // namespace weft

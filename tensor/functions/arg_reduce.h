// Extrema with their positions. A tensor without axes takes axis 0 and -1.
#pragma once

#include <concepts>
#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// The extremum along one axis and its first position (i64), which alone gets the gradient. ShapeError where the axis
/// has size 0.
ValuesAndIndices max_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
ValuesAndIndices min_with_indices(const Tensor& x, int64_t axis, KeepDim keep = {});
/// The first position of the extremum (i64) along an axis, or in row-major order of all. The first NaN comes before
/// all.
template <std::same_as<bool> T> Tensor argmax(const Tensor& x, T, KeepDim = {}) = delete;  // a bool is no axis
template <std::same_as<bool> T> Tensor argmin(const Tensor& x, T, KeepDim = {}) = delete;
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = std::nullopt, KeepDim keep = {});

}  // namespace weft

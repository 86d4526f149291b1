// Indexing with tensors of integers. Indices are always checked: IndexError `index 7 is out of range for an axis
// of size 5`. A tensor without axes counts as one of shape (1) and takes axis 0 and -1.
#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// out[i][j] = x[index[i][j]][j] for axis 0, and so on: `index` has x's rank, and sizes up to x's on the other axes.
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);
/// Slices of `axis` in the order of the 1-D `index`. A tensor without axes takes one index and gives none.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index);
/// The rows `indices` (any shape, any integers) of `weight` (V, D): shape indices + (D). The gradient of row
/// `padding_idx` is zero (negative: none).
Tensor embedding(const Tensor& indices, const Tensor& weight, int64_t padding_idx = -1);
/// indices (any shape) to f32 vectors of `classes` with one 1; classes = max + 1 where absent. No gradient. IndexError
/// for negative indices, DtypeError unless integers.
Tensor one_hot(const Tensor& indices, std::optional<int64_t> classes = std::nullopt);
/// The position on each axis of `shape` of the elements (in row-major order) that `index` names: a tensor of its shape
/// for each axis. IndexError for what lies outside.
std::vector<Tensor> unravel_index(const Tensor& index, const Shape& shape);

}  // namespace weft

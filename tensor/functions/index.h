// Indexing with integer tensors. Indices are always checked: IndexError
// `index 7 is out of range for an axis of size 5`. A 0-d tensor is treated as a tensor of shape (1) and accepts axis 0
// and -1.
#pragma once

#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// For axis 0 of a matrix: out[i][j] = x[index[i][j]][j]; other axes and ranks likewise. `index` has x's rank. On the
/// axes other than `axis`, its sizes are at most those of x.
Tensor gather(const Tensor& x, int64_t axis, const Tensor& index);
/// Slice i of the result along `axis` is slice index[i] of x. `index` is 1-D. A 0-d x takes an index of one element,
/// and the result is 0-d.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& index);
/// Looks up rows of `weight` (V, D): integer `indices` of shape (...) give (..., D). The gradient of row `padding_idx`
/// is zero; a negative padding_idx counts from the end.
Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<int64_t> padding_idx = std::nullopt);
/// Integer `indices` (...) give f32 one-hot vectors (..., classes). classes defaults to the largest index + 1. No
/// gradient. IndexError for negative indices, DtypeError unless indices are integers.
Tensor one_hot(const Tensor& indices, std::optional<int64_t> classes = std::nullopt);
/// Converts flat row-major indices into coordinates in `shape`: one tensor per axis of `shape`, each of index's shape.
/// IndexError for an index out of range.
std::vector<Tensor> unravel_index(const Tensor& index, const Shape& shape);

}  // namespace weft

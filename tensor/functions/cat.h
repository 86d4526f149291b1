// Joining tensors.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Joins tensors along an existing axis; the sizes of all other axes are equal. Dtypes promote. The result has the
/// memory order of the first tensor. A tensor of shape (0) can be joined with tensors of any shape and adds nothing.
/// ShapeError for 0-d tensors (use stack), Error for an empty list.
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Joins tensors of equal shape along a new axis at position `axis`.
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Joins tensors horizontally: along axis 1, or along axis 0 if they are 1-D.
Tensor hstack(const std::vector<Tensor>& tensors);
/// Joins tensors vertically: along axis 0. A tensor with fewer than two axes is a row (1, n).
Tensor vstack(const std::vector<Tensor>& tensors);
/// Joins tensors along axis 2. Shapes (n) and (m, n) become (1, n, 1) and (m, n, 1) first.
Tensor dstack(const std::vector<Tensor>& tensors);
/// Joins tensors along axis 1. A tensor with fewer than two axes is a column (n, 1).
Tensor column_stack(const std::vector<Tensor>& tensors);
/// A block-diagonal matrix: the given matrices along the diagonal, 0 elsewhere. A tensor with fewer than two axes is a
/// row. ShapeError for a tensor with more than two axes.
Tensor block_diag(const std::vector<Tensor>& tensors);

}  // namespace weft

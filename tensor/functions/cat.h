// Joining tensors.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Along an existing axis; the other sizes are equal, dtypes promote, the memory order is the first's. Tensors of shape
/// (0) go with any others, so that a list can grow from one. ShapeError for tensors without axes (use stack), Error for
/// an empty list.
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Along a new axis; all shapes are equal.
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Side by side: along axis 1, or along the only one.
Tensor hstack(const std::vector<Tensor>& tensors);
/// One below the other: along axis 0, what has one axis or none being a row.
Tensor vstack(const std::vector<Tensor>& tensors);
/// Behind each other: along axis 2, shapes (n) and (m, n) being (1, n, 1) and (m, n, 1).
Tensor dstack(const std::vector<Tensor>& tensors);
/// Side by side: along axis 1, what has one axis or none being a column.
Tensor column_stack(const std::vector<Tensor>& tensors);
/// Matrices one after the other in a matrix that is 0 elsewhere; what has one axis or none is a row. ShapeError for
/// more axes.
Tensor block_diag(const std::vector<Tensor>& tensors);

}  // namespace weft

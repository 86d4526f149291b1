// Joining tensors.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// Along an existing axis; the other sizes are equal, dtypes promote, the memory order is the first's. ShapeError for
/// tensors without axes (use stack), Error for an empty list.
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Along a new axis; all shapes are equal.
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0);

}  // namespace weft

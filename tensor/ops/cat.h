// Joining tensors.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Along an existing axis; the other sizes are equal, dtypes promote, the memory order is the first's.
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0);
/// Along a new axis; all shapes are equal.
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0);

}  // namespace weft

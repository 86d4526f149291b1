// What rules and layers need of bags (tensor/ops/embedding_bag.h).
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The bag of each of `count` indices, where bags begin at `offsets`.
Tensor bag_of_each(const Tensor& offsets, int64_t count);

}  // namespace weft::adjoint

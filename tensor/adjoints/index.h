// Gradients of indexing that are no public function; called by rules.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradient of embedding's weight, which has `rows` rows; row `padding_idx` gets none.
Tensor embedding_backward(const Tensor& g, const Tensor& indices, int64_t rows, int64_t padding_idx);

}  // namespace weft::adjoint

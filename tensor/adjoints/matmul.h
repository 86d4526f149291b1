// Products that optimizers need.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// x x^t, symmetric, of a floating matrix x (M, N): (M, M) in dtype `result`, which is x's or f32.
Tensor gram(const Tensor& x, DType result);

}  // namespace weft::adjoint

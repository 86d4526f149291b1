// Products that optimizers and linear algebra need.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// x x^t, symmetric, of a floating matrix x (M, N): (M, M) in dtype `result`, which is x's or f32.
Tensor gram(const Tensor& x, DType result);
/// matmul(a, b) in f32 or wider under Autocast too, as what it is part of: QR factors, least squares.
Tensor exact_matmul(const Tensor& a, const Tensor& b);

}  // namespace weft::adjoint

// Products that optimizers and linear algebra need, and what linear layers share with products.
#pragma once

#include "tensor/functions/view.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// x x^t, symmetric, of a floating matrix x (M, N): (M, M) in dtype `result`, which is x's or f32.
Tensor gram(const Tensor& x, DType result);
/// matmul(a, b) in f32 or wider under Autocast too, as what it is part of: QR factors, least squares.
Tensor exact_matmul(const Tensor& a, const Tensor& b);

/// product(matrix) of (..., M, K) as one product instead of a batch of them: the batch axes join the rows.
template <class F> Tensor with_joined_rows(const Tensor& x, const F& product) {
  Shape shape = x.shape();
  int64_t rows = 1;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) rows *= x.size(i);
  const Tensor flat = product(reshape(x, {rows, x.size(-1)}));
  shape[shape.size() - 1] = flat.size(1);
  return reshape(flat, shape);
}

}  // namespace weft::adjoint

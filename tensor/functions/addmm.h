// beta * x + alpha * product. x broadcasts to the shape of the product. If beta is 0, x is not read, so NaN in x does
// not reach the result; nor does NaN in the factors if alpha is 0. bf16 and f16 are computed in f32 and rounded once.
// With a floating beta or alpha other than 1, integers give f32.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// The product is the matrix product of a (n, k) and b (k, m).
Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);
/// The product is the matrix a (n, k) times the vector b (k).
Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);
/// The product is the batched matrix product of a (batch, n, k) and b (batch, k, m): (batch, n, m).
Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);
/// The product is the batched matrix product of a (batch, n, k) and b (batch, k, m), summed over the batch: (n, m).
Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);

/// The product is the outer product of the vectors a (n) and b (m): (n, m).
Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);

}  // namespace weft

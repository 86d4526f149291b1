// beta x + alpha times a product; x broadcasts with the product. Where beta is 0, x is not read (its NaN does not
// count).
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// The product of the matrices a (n, k) and b (k, m).
Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);
/// Of the matrix a (n, k) and the vector b (k).
Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);
/// Of the matrices of the batches a (batch, n, k) and b (batch, k, m), one by one.
Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);
/// The same, summed over the batch.
Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);

/// Of the vectors a (n) and b (m), all products.
Tensor addr(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& beta = 1, const Scalar& alpha = 1);

}  // namespace weft

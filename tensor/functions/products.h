// Products of vectors and matrices by their own names. All are matmul, einsum's contraction or element-wise products;
// dtypes promote as there. ShapeError where shapes do not fit.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// sum_i a_i b_i of two vectors of one length. vdot is the same for real numbers.
Tensor dot(const Tensor& a, const Tensor& b);
Tensor vdot(const Tensor& a, const Tensor& b);
/// Sums of products along `axis` of vectors that broadcast.
Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis = -1);
/// a_i b_j of two vectors.
Tensor outer(const Tensor& a, const Tensor& b);
/// Sums of products over the last axis of both: shape a without its last axis, then b without its last. A tensor
/// without axes multiplies.
Tensor inner(const Tensor& a, const Tensor& b);
/// (M, K) times (K).
Tensor mv(const Tensor& a, const Tensor& x);
/// (M, K) times (K, N).
Tensor mm(const Tensor& a, const Tensor& b);
/// (B, M, K) times (B, K, N); nothing broadcasts.
Tensor bmm(const Tensor& a, const Tensor& b);
/// Sums of products over the last `axes` axes of `a` and the first of `b`; 0 gives all products.
Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes = 2);
/// The same over `a_axes` of `a` and, in this order, `b_axes` of `b`.
Tensor tensordot(const Tensor& a, const Tensor& b, const IntList& a_axes, const IntList& b_axes);
/// The Kronecker product: blocks a_ij b. The tensor with fewer axes gets axes of size 1 on the left.
Tensor kron(const Tensor& a, const Tensor& b);
/// The cross product of vectors of three along `axis`; the others broadcast.
Tensor cross(const Tensor& a, const Tensor& b, int64_t axis = -1);
/// The sum of the diagonal of a matrix; of integers in i64.
Tensor trace(const Tensor& x);
/// The product of matrices in the order that takes the fewest multiplications. The first may be a vector (a row), the
/// last too (a column), and their axis is not in the result.
Tensor multi_dot(const std::vector<Tensor>& matrices);
/// The same of matrices only: PyTorch's older name.
Tensor chain_matmul(const std::vector<Tensor>& matrices);
/// a^n of square matrices (..., n, n), by repeated squaring; of the inverse where n < 0.
Tensor matrix_power(const Tensor& a, int64_t n);
/// Powers x^0 ... x^(n-1) of each element as a new last axis; without `n` as many as the last axis of x has elements
/// (torch.linalg.vander). Integers give i64.
Tensor vander(const Tensor& x, std::optional<int64_t> n = std::nullopt);

}  // namespace weft

// Products of vectors and matrices. They are composed of matmul, einsum and element-wise products, and dtypes promote
// as in these. ShapeError if shapes do not match.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The sum of a_i b_i for two vectors of equal length. vdot is the same, as weft has only real numbers.
Tensor dot(const Tensor& a, const Tensor& b);
Tensor vdot(const Tensor& a, const Tensor& b);
/// The dot products of the vectors along `axis`; the operands broadcast. The result does not have that axis.
Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis = -1);
/// All products a_i b_j of two vectors: (n) and (m) give (n, m).
Tensor outer(const Tensor& a, const Tensor& b);
/// Dot products over the last axis of both: a (..., K) and b (other axes, K) give (..., other axes). If one operand is
/// 0-d, the result is their element-wise product.
Tensor inner(const Tensor& a, const Tensor& b);
/// Matrix (M, K) times vector (K).
Tensor mv(const Tensor& a, const Tensor& x);
/// Matrix (M, K) times matrix (K, N).
Tensor mm(const Tensor& a, const Tensor& b);
/// Batched matrix product: (B, M, K) times (B, K, N), without broadcasting.
Tensor bmm(const Tensor& a, const Tensor& b);
/// Sums of products over the last `axes` axes of `a` and the first `axes` axes of `b`; with axes = 0, the outer
/// product.
Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes = 2);
/// Sums of products over the pairs of axes a_axes[i] of `a` and b_axes[i] of `b`.
Tensor tensordot(const Tensor& a, const Tensor& b, const IntList& a_axes, const IntList& b_axes);
/// The Kronecker product: the block matrix of a_ij * b. The tensor with fewer axes gets axes of size 1 on the left.
Tensor kron(const Tensor& a, const Tensor& b);
/// The cross product of the vectors of length 3 along `axis`, by default the last, as torch.linalg.cross; the other
/// axes broadcast. (torch.cross takes the first axis of size 3.)
Tensor cross(const Tensor& a, const Tensor& b, int64_t axis = -1);
/// The sum of the diagonal of a matrix. Integers give i64.
Tensor trace(const Tensor& x);
/// The product of several matrices, computed in the order that needs the fewest multiplications. The first may be a
/// vector (a row) and the last may be a vector (a column); the result does not have the axis of size 1 then.
Tensor multi_dot(const std::vector<Tensor>& matrices);
/// multi_dot() for matrices only, under PyTorch's older name.
Tensor chain_matmul(const std::vector<Tensor>& matrices);
/// The n-th power of square matrices (..., m, m) by repeated squaring. A negative n gives the power of the inverse.
Tensor matrix_power(const Tensor& a, int64_t n);
/// The powers x^0 ... x^(n-1) of each element, along a new last axis (torch.linalg.vander). n defaults to the size of
/// the last axis of x. Integers give i64.
Tensor vander(const Tensor& x, std::optional<int64_t> n = std::nullopt);

}  // namespace weft

// What rules of linear algebra call, and what its functions share.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// x with a x = b (or its transpose's), from a's factors; the batches are equal.
Tensor lu_solve(const Tensor& a, const Tensor& lu, const Tensor& pivots, const Tensor& b, bool transposed);
/// a^-T from a's factors.
Tensor inverse_transposed(const Tensor& a, const Tensor& lu, const Tensor& pivots);
/// p x for the permutation p of a factorization with these pivots, or with `transposed` p^T x.
Tensor permute_rows(const Tensor& x, const Tensor& pivots, bool transposed);
/// The matrix of cofactors through singular vectors: det(u) det(v) u diag(prod of the other s) v^T.
Tensor cofactors(const Tensor& a);
/// What is on and below (above) the diagonal `offset` of matrices.
Tensor lower_part(const Tensor& x, int64_t offset = 0);
Tensor upper_part(const Tensor& x, int64_t offset = 0);
/// Matrices with these diagonals.
Tensor diagonal_matrix(const Tensor& x);

/// ShapeError for what is not (..., n, n).
void check_square(const Tensor& a);
/// Whether the right side b has a vector per matrix of a: one axis, or a's shape without the last one.
bool are_vectors(const Tensor& b, const Tensor& a);
/// What the batches of two tensors of matrices broadcast to.
Shape common_batch(const Tensor& a, const Tensor& b);
/// `x` with its batch expanded; its last `inner` axes are no batch.
Tensor with_batch(const Tensor& x, const Shape& batch, int64_t inner = 2);

}  // namespace weft::adjoint

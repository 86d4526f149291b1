// Singular value decomposition, and functions based on it. The last two axes are matrices, the others are batch axes.
// f32 and f64. Error `matrix 3 of the batch has an element that is not finite`.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

struct SvdResult {
  Tensor u, s, vh;
};
/// a = u diag(s) vh for matrices (..., m, n), with s (..., k) in descending order and k = min(m, n). u is (..., m, m)
/// and vh is (..., n, n), as in PyTorch; without `full_matrices` they are (..., m, k) and (..., k, n). The common sign
/// of a column of u and the corresponding row of vh is arbitrary. Gradient: Townsend 2016, "Differentiating the
/// singular value decomposition". The gradient of u and vh is infinite if singular values are equal or, unless m = n,
/// if one is zero. It is an Error if full_matrices adds columns.
SvdResult svd(const Tensor& a, bool full_matrices = true);
/// The singular values, descending. Their differential is the diagonal of u^T da v. The gradient is unique if the
/// values are distinct and not zero; otherwise it is the one given by the singular vectors that svd() returns. The
/// second derivative is infinite if two values are equal.
Tensor svdvals(const Tensor& a);

struct PinvOptions {
  std::optional<double> rtol = {};  // default: machine epsilon * max(m, n) if atol is 0 or absent, else 0
  std::optional<double> atol = {};  // default: 0
  bool hermitian = false;           // the matrices are symmetric (not checked): only their lower triangle is read
};
/// The Moore-Penrose pseudoinverse: (..., m, n) gives (..., n, m). Singular values up to max(atol, rtol s_max) count as
/// zero. Gradient: Golub and Pereyra 1973, for changes of the matrix that do not change its rank. If `hermitian`, the
/// gradient is symmetric, for changes that keep the matrix symmetric. ShapeError if `hermitian` and m != n.
Tensor pinv(const Tensor& a, const PinvOptions& options = {});
/// The number of singular values above max(atol, rtol s_max), i64; if `hermitian`, they are the absolute values of the
/// eigenvalues.
Tensor matrix_rank(const Tensor& a, const PinvOptions& options = {});

struct LstsqResult {
  Tensor solution;   // (..., n, k)
  Tensor residuals;  // (..., k): squared norms of a x - b; shape (0) unless m > n and every matrix has rank n
  Tensor rank;       // i64
};
/// The x of smallest norm that minimizes |a x - b|, for a (..., m, n) of any rank and b (..., m, k), or one vector per
/// matrix (..., m) as in solve(); the results do not have the axis k then. Computed by QR if every matrix (in vmap: of
/// every sample) has full rank, else from singular values as pinv() is. The gradient is exact at full rank. At a lower
/// rank it is that of pinv(), for changes of a that keep the rank (x is discontinuous otherwise). The residuals are
/// differentiable, the rank is not.
LstsqResult lstsq(const Tensor& a, const Tensor& b);

}  // namespace weft

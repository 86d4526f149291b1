// Singular values, and what is computed from them. Matrices are the last two axes, all others are a batch; f32 and f64.
// Error `matrix 3 of the batch has an element that is not finite`.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

struct SvdResult {
  Tensor u, s, vh;
};
/// a = u diag(s) vh of matrices (..., m, n), s (..., k) descending, k = min(m, n). u is (..., m, m) and vh (..., n, n),
/// as PyTorch gives them by default; without `full_matrices` (..., m, k) and (..., k, n). Columns of u and rows of vh
/// are determined up to a common sign. Gradient: Townsend 2016, "Differentiating the singular value decomposition"; of
/// u and vh it is infinite where singular values are equal (or, unless m = n, zero), and an error where full_matrices
/// adds columns.
SvdResult svd(const Tensor& a, bool full_matrices = true);
/// Singular values, descending. Their gradient is u^T da v on the diagonal: it exists where they are distinct and not
/// zero; elsewhere it is that of the vectors that svd() chose. The second derivative is infinite where two are equal.
Tensor svdvals(const Tensor& a);

struct PinvOptions {
  std::optional<double> rtol;  // the machine epsilon times max(m, n) where absent and atol is 0 or absent, else 0
  std::optional<double> atol;  // 0 where absent
};
/// The Moore-Penrose pseudoinverse (..., n, m): singular values up to max(atol, rtol s_max) count as zero. Gradient:
/// Golub and Pereyra 1973, for matrices whose rank stays.
Tensor pinv(const Tensor& a, const PinvOptions& options = {});
/// How many singular values are above max(atol, rtol s_max), i64.
Tensor matrix_rank(const Tensor& a, const PinvOptions& options = {});

struct LstsqResult {
  Tensor solution;   // (..., n, k)
  Tensor residuals;  // (..., k): squared lengths of a x - b; [0] unless m > n and every matrix has rank n
  Tensor rank;       // i64
};
/// The x of least length that minimises |a x - b|, for a (..., m, n) of any rank and b (..., m, k). By QR where m >= n
/// and the columns of every matrix (in vmap: of every sample) are independent, else by pinv. The gradient is that of
/// the way taken: exact at full rank; at a lower one it is pinv's, for changes of a that keep the rank (any other makes
/// x jump). The squared residuals have a gradient too, the rank has none.
LstsqResult lstsq(const Tensor& a, const Tensor& b);

}  // namespace weft

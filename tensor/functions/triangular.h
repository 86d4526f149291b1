// Cholesky factorization, and systems with triangular matrices. The last two axes are matrices, the others are batch
// axes. f32 and f64. Gradients: Murray 2016, "Differentiation of the Cholesky decomposition", arXiv 1602.07527.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The lower triangular l with l l^T = a, for a symmetric positive definite a; only the lower triangle of a is read.
/// With `upper`: the upper triangular u with u^T u = a, computed from the upper triangle. The gradient is symmetric.
/// Error `matrix 3 of the batch is not positive definite`.
Tensor cholesky(const Tensor& a, bool upper = false);
struct CholeskyExResult {
  Tensor l, info;
};
/// cholesky() without an error: `info` (..., i32) is 0 for a positive definite matrix; otherwise it is i if the leading
/// i x i matrix is the first that is not positive definite, the factor of that matrix of the batch is NaN, and its
/// gradient is 0. With `check_errors`, it is an error as in cholesky().
CholeskyExResult cholesky_ex(const Tensor& a, bool upper = false, bool check_errors = false);
/// Solves a x = b for x, given the factor `l` = cholesky(a). Only one triangle of l is read; the gradient of l is zero
/// in the other one. Error if there is a zero on the diagonal of l (a is singular).
Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper = false);
/// The inverse of a, given the factor `l` = cholesky(a). Gradient and error are as for cholesky_solve().
Tensor cholesky_inverse(const Tensor& l, bool upper = false);

struct TriangularOptions {
  bool upper = false;          // the triangle of a that is read
  bool left = true;            // false: solve x a = b
  bool unitriangular = false;  // a's diagonal is assumed to be ones and is not read
};
/// Solves a x = b for x, with a triangular a (..., n, n) and b (..., n, k); batch axes broadcast. The gradient of a is
/// zero in the triangle that is not read. Error if there is a zero on the diagonal.
Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options = {});

}  // namespace weft

// Cholesky factorisation, and systems with triangular matrices. Matrices are the last two axes, all others are a batch;
// f32 and f64. Gradients: Murray 2016, "Differentiation of the Cholesky decomposition", arXiv 1602.07527.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Lower triangular l with l l^T = a for symmetric positive definite a, of which only the lower triangle is read; with
/// `upper` u with u^T u = a, from the upper triangle. The gradient is that of a symmetric matrix. Error `matrix 3 of
/// the batch is not positive definite`.
Tensor cholesky(const Tensor& a, bool upper = false);
/// x with a x = b for the matrix a whose factor `l` cholesky(a) gave. Gradients of b and of the triangle of l that is
/// read, zero in the other one. Error where there is a zero on l's diagonal (a is singular).
Tensor cholesky_solve(const Tensor& b, const Tensor& l, bool upper = false);
/// The inverse of the matrix whose factor `l` cholesky gave. Gradient and error as of cholesky_solve().
Tensor cholesky_inverse(const Tensor& l, bool upper = false);

struct TriangularOptions {
  bool upper = false;          // the triangle of a that is read
  bool left = true;            // false: x a = b
  bool unitriangular = false;  // a's diagonal is taken as ones and not read
};
/// x with a x = b for triangular a (..., n, n) and b (..., n, k); batches broadcast. The gradient of a is zero in the
/// triangle that is not read. Error where there is a zero on the diagonal.
Tensor solve_triangular(const Tensor& a, const Tensor& b, const TriangularOptions& options = {});

}  // namespace weft

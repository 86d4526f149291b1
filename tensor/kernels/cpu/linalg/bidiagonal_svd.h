// Singular values and vectors of upper bidiagonal matrices.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// d (n), the diagonal, becomes the singular values in ascending order; e (n), of which n - 1 lie above the diagonal,
/// is overwritten. The squares of the largest element and of its product with the machine epsilon must be normal
/// numbers. By divide and conquer (Gu and Eisenstat 1995), small parts by implicit QR.
void bidiagonal_values(double* d, double* e, int64_t n);

/// The same with the left and right singular vectors of length 1 in the rows of row-major `left` and `right` (n, n).
void bidiagonal_vectors(double* d, double* e, Matrix<double> left, Matrix<double> right);

}  // namespace weft::kernels::cpu::linalg

// Eigenvalues and eigenvectors of symmetric tridiagonal matrices.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// d (n), the diagonal, becomes the eigenvalues in ascending order; e (n), of which n - 1 lie beside the diagonal, is
/// overwritten. The largest element must be near 1, or all must be 0. By QL steps without square roots (Pal, Walker and
/// Kahan; Reinsch 1973).
void tridiagonal_values(double* d, double* e, int64_t n);

/// The same with the eigenvectors of length 1 in the rows of row-major `vectors` (n, n), by divide and conquer (Cuppen
/// 1981; Gu and Eisenstat 1995). The vectors are as precise as T; values are summed in f64. T: float or double.
template <class T> void tridiagonal_vectors(double* d, double* e, Matrix<T> vectors);

}  // namespace weft::kernels::cpu::linalg

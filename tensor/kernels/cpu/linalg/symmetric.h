// Eigenvalues and eigenvectors of one symmetric matrix.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// Row-major `a` (n, n), finite, of which the upper triangle is read, is overwritten. values (n): the eigenvalues in
/// ascending order; the eigenvectors, of length 1, in the rows of row-major `vectors` (n, n) where it is not null. T:
/// float or double.
template <class T> void symmetric_eigen(Matrix<T> a, double* values, const Matrix<T>* vectors);

}  // namespace weft::kernels::cpu::linalg

// The eigenvalues and eigenvectors of diag(poles) + rho z z^T, and the singular values and vectors of a diagonal matrix
// whose first row is full (Golub 1973; Gu and Eisenstat 1995; Li, LAPACK working note 89).
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// For ascending, different poles, no weight z of 0, and rho > 0. values (k): the eigenvalues in ascending order. Row i
/// of `vectors` (k, k): the vector of value i, of length 1, its element j in column place[j]. Vectors are made of
/// weights for which the values found are exact, so that they are orthogonal to working precision (Gu and Eisenstat
/// 1994). T: float or double.
template <class T>
void secular_vectors(const double* poles, const double* weights, double rho, const int64_t* place, double* values,
                     Matrix<T> vectors);

/// Of the matrix of first row z with ascending, different poles, the first 0, on the diagonal below it; no weight z of
/// 0. values (k): the singular values in ascending order. Rows of `left` and `right` (k, k): their vectors of length 1,
/// precise and placed as above; `left` may have no rows.
void secular_singular_vectors(const double* poles, const double* weights, const int64_t* place, double* values,
                              Matrix<double> left, Matrix<double> right);

}  // namespace weft::kernels::cpu::linalg

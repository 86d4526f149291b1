// The eigenvalues and eigenvectors of diag(poles) + rho z z^T (Golub 1973; Li, LAPACK working note 89).
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

}  // namespace weft::kernels::cpu::linalg

// Singular values of f64 matrices.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// svd_f32(), which see, of an f64 matrix.
void svd_f64(Matrix<const double> a, bool vectors, double* s, const Matrix<double>& u, const Matrix<double>& vh);

}  // namespace weft::kernels::cpu::linalg

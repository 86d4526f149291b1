// Singular values of f64 matrices.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// As svd_f32(), for an f64 matrix.
void svd_f64(Matrix<const double> a, bool vectors, double* s, const Matrix<double>& u, const Matrix<double>& vh);

}  // namespace weft::kernels::cpu::linalg

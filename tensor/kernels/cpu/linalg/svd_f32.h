// Singular values of f32 matrices.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// a = u diag(s) vh for a finite, not empty `a` (m, n), singular values descending. With k = min(m, n): s (k), u (m, k)
/// or (m, m), vh (k, n) or (n, n); u and vh are neither read nor written without `vectors`.
void svd_f32(Matrix<const float> a, bool vectors, float* s, const Matrix<float>& u, const Matrix<float>& vh);

}  // namespace weft::kernels::cpu::linalg

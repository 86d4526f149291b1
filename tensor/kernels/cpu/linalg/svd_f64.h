// Singular values of f64 matrices, and of tall ones of few columns.
#pragma once

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

/// As svd_f32(), for an f64 matrix.
void svd_f64(Matrix<const double> a, bool vectors, double* s, const Matrix<double>& u, const Matrix<double>& vh);

/// The same for one number.
template <class T> void svd_of_number(T a, bool vectors, T* s, const Matrix<T>& u, const Matrix<T>& vh) {
  *s = a < 0 ? -a : a;
  if (vectors) u.at(0, 0) = a < 0 ? T{-1} : T{1}, vh.at(0, 0) = 1;
}

/// The same for a tall matrix of few columns, f32 or f64, in f64. False where it is none: nothing was done.
template <class T>
bool svd_of_few_columns(Matrix<const T> a, bool vectors, T* s, const Matrix<T>& u, const Matrix<T>& vh);

}  // namespace weft::kernels::cpu::linalg

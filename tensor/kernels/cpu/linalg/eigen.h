// Eigen's matrices, and copies between them and weft's.
#pragma once

#include <Eigen/Dense>

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

template <class T> using Dense = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <class T> Dense<T> to_eigen(Matrix<const T> a) {
  Dense<T> out(a.rows, a.columns);
  copy_matrix_serial<T, T>(a, Matrix<T>{out.data(), a.rows, a.columns, 1, a.rows});
  return out;
}

template <class T> void from_eigen(const Dense<T>& a, Matrix<T> out) {
  copy_matrix_serial<T, T>(Matrix<const T>{a.data(), a.rows(), a.cols(), 1, a.rows()}, out);
}

}  // namespace weft::kernels::cpu::linalg

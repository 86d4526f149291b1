// Eigen's matrices, and copies between them and weft's. Decompositions are computed in f64 whatever the dtype: Eigen's
// templates for a second type would take as long to compile again, and f32 loses time only where a matrix is large.
#pragma once

#include <Eigen/Dense>

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu::linalg {

using Dense = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;

template <class T> Dense to_eigen(Matrix<const T> a) {
  Dense out(a.rows, a.columns);
  copy_matrix_serial<T, double>(a, Matrix<double>{out.data(), a.rows, a.columns, 1, a.rows});
  return out;
}

template <class T> void from_eigen(const Dense& a, Matrix<T> out) {
  copy_matrix_serial<double, T>(Matrix<const double>{a.data(), a.rows(), a.cols(), 1, a.rows()}, out);
}

}  // namespace weft::kernels::cpu::linalg

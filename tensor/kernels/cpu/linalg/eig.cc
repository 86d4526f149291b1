#include "tensor/ops/eig.h"

#include <Eigen/Eigenvalues>

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/eigen.h"
#include "tensor/kernels/cpu/linalg/symmetric.h"

namespace weft::kernels::cpu {
namespace {

/// Whether the triangle that is read is finite.
template <class T> bool is_finite_triangle(Matrix<const T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j <= i; ++j)
      if (!std::isfinite(a.at(i, j))) return false;
  return true;
}

template <class T> void eigh(Matrix<const T> a, T* values, const Matrix<T>* vectors) {
  const int64_t n = a.rows;
  Scratch<T> copy(checked_multiply(n, n)), found(vectors == nullptr ? 0 : n * n);
  Scratch<double> wide_values(n);
  const Matrix<T> work = row_major(copy.data(), n, n), rows = row_major(found.data(), n, n);
  copy_matrix<T, T>(a.transposed(), work);  // the lower triangle is read
  linalg::symmetric_eigen<T>(work, wide_values.data(), vectors == nullptr ? nullptr : &rows);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(wide_values.data()[i]);
  if (vectors != nullptr) copy_matrix<T, T>(rows.transposed(), *vectors);
}

/// Eigenvalues in ascending order of their real parts; false where one is not real.
template <class T> bool real_pairs(const linalg::Dense& a, T* values, Matrix<T> vectors) {
  const Eigen::EigenSolver<linalg::Dense> solver(a);
  if (solver.info() != Eigen::Success) return false;
  const auto& found = solver.eigenvalues();
  for (Eigen::Index i = 0; i < found.size(); ++i) {
    if (found[i].imag() != 0) return false;
    values[i] = static_cast<T>(found[i].real());
  }
  linalg::Dense real = solver.pseudoEigenvectors();
  real.colwise().normalize();
  linalg::from_eigen<T>(real, vectors);
  return true;
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void Eigh::cpu(const Operand& a, const Operand& values, const Operand& eigenvectors) const {
  if (a.numel() == 0) return;
  const double n = static_cast<double>(a.size(a.rank() - 1));
  FirstFailure failed;
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 9 * n * n * n, [&](int64_t i) {
      const Matrix<const T> matrix = upper ? matrix_of<const T>(a, i).transposed() : matrix_of<const T>(a, i);
      if (!is_finite_triangle(matrix)) return failed.report(i);
      const Matrix<T> found = vectors ? matrix_of<T>(eigenvectors, i) : Matrix<T>{};
      eigh<T>(matrix, vector_of<T>(values, i), vectors ? &found : nullptr);
    });
  });
  failed.check(a, "has an element that is not finite");
}

void Eig::cpu(const Operand& a, const Operand& values, const Operand& eigenvectors) const {
  if (a.numel() == 0) return;
  const double n = static_cast<double>(a.size(a.rank() - 1));
  FirstFailure infinite, complex;
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 25 * n * n * n, [&](int64_t i) {
      const linalg::Dense matrix = linalg::to_eigen(matrix_of<const T>(a, i));
      if (!matrix.allFinite()) return infinite.report(i);
      if (!real_pairs<T>(matrix, vector_of<T>(values, i), matrix_of<T>(eigenvectors, i))) complex.report(i);
    });
  });
  infinite.check(a, "has an element that is not finite");
  complex.check(a, "has complex eigenvalues, for which there is no dtype");
}

}  // namespace weft::op

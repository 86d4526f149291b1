#include "tensor/ops/svd.h"

#include <Eigen/SVD>

#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/eigen.h"
#include "tensor/kernels/cpu/linalg/svd_f32.h"

namespace weft::kernels::cpu {
namespace {

/// Divide and conquer, Jacobi's rotations for what is small (Eigen). Not for matrices that are not finite or are empty.
using Decomposition = Eigen::BDCSVD<linalg::Dense>;

template <class T> bool is_finite(Matrix<const T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      if (!std::isfinite(a.at(i, j))) return false;
  return true;
}

template <class T> void set_identity(Matrix<T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) a.at(i, j) = i == j ? T{1} : T{0};
}

unsigned options(bool vectors, bool full) {
  if (!vectors) return 0;
  return full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
}

template <class T>
void svd_by_eigen(Matrix<const T> a, unsigned options, T* s, const Matrix<T>& u, const Matrix<T>& vh) {
  const Decomposition svd(linalg::to_eigen(a), options);
  std::transform(svd.singularValues().begin(), svd.singularValues().end(), s,
                 [](double value) { return static_cast<T>(value); });
  if (options == 0) return;
  linalg::from_eigen<T>(svd.matrixU(), u);
  linalg::from_eigen<T>(svd.matrixV(), vh.transposed());
}

constexpr const char* kNotFinite = "has an element that is not finite";

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft::op {
using namespace kernels::cpu;

void Svd::cpu(const Operand& a, const Operand& u, const Operand& s, const Operand& vh) const {
  const double m = static_cast<double>(a.size(a.rank() - 2)), n = static_cast<double>(a.size(a.rank() - 1));
  FirstFailure failed;
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 20 * m * n * std::min(m, n), [&](int64_t i) {
      const Matrix<const T> matrix = matrix_of<const T>(a, i);
      if (matrix.rows == 0 || matrix.columns == 0) {
        if (vectors) set_identity(matrix_of<T>(u, i)), set_identity(matrix_of<T>(vh, i));
        return;
      }
      if (!is_finite(matrix)) return failed.report(i);
      const Matrix<T> left = vectors ? matrix_of<T>(u, i) : Matrix<T>{},
                      right = vectors ? matrix_of<T>(vh, i) : Matrix<T>{};
      if constexpr (std::is_same_v<T, float>)
        linalg::svd_f32(matrix, vectors, vector_of<T>(s, i), left, right);
      else
        svd_by_eigen<T>(matrix, options(vectors, full), vector_of<T>(s, i), left, right);
    });
  });
  failed.check(a, kNotFinite);
}

void Pinv::cpu(const Operand& a, const Operand& out) const {
  if (a.numel() == 0) return;
  const double m = static_cast<double>(a.size(a.rank() - 2)), n = static_cast<double>(a.size(a.rank() - 1));
  FirstFailure failed;
  visit_precision(a.dtype, [&]<class T>() {
    for_each_matrix(batch_count(a), 20 * m * n * std::min(m, n), [&](int64_t i) {
      const Matrix<const T> matrix = matrix_of<const T>(a, i);
      if (!is_finite(matrix)) return failed.report(i);
      const Decomposition svd(linalg::to_eigen(matrix), options(true, false));
      const auto& s = svd.singularValues();
      const double limit = std::max(atol, rtol * s[0]);
      Eigen::VectorXd inverse(s.size());
      for (Eigen::Index k = 0; k < s.size(); ++k) inverse[k] = s[k] > limit ? 1 / s[k] : 0;
      const linalg::Dense result = svd.matrixV() * inverse.asDiagonal() * svd.matrixU().transpose();
      linalg::from_eigen<T>(result, matrix_of<T>(out, i));
    });
  });
  failed.check(a, kNotFinite);
}

}  // namespace weft::op

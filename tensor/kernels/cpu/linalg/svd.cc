#include "tensor/ops/svd.h"

#include <cmath>
#include <type_traits>

#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/svd_f32.h"
#include "tensor/kernels/cpu/linalg/svd_f64.h"

namespace weft::kernels::cpu {
namespace {

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

/// The pseudoinverse, computed in f64 for every dtype: the inverse of a small singular value has the relative error of
/// the value.
template <class T> void pinv(Matrix<const T> a, double rtol, double atol, Matrix<T> out) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Scratch<double> room(checked_multiply(m, n)), vectors(checked_multiply(k, m + n)), values(k);
  const Matrix<double> wide = row_major(room.data(), m, n), u = row_major(vectors.data(), m, k),
                       vh = row_major(vectors.data() + m * k, k, n);
  copy_matrix<T, double>(a, wide);
  double* const s = values.data();
  linalg::svd_f64(wide, true, s, u, vh);
  const double limit = std::max(atol, rtol * s[0]);
  for (int64_t i = 0; i < k; ++i)
    for (int64_t j = 0; j < n; ++j) vh.at(i, j) = s[i] > limit ? vh.at(i, j) / s[i] : 0;
  gemm<double>(vh.transposed(), u.transposed(), row_major(room.data(), n, m));
  copy_matrix<double, T>(row_major(room.data(), n, m), out);
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
        linalg::svd_f64(matrix, vectors, vector_of<T>(s, i), left, right);
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
      pinv(matrix, rtol, atol, matrix_of<T>(out, i));
    });
  });
  failed.check(a, kNotFinite);
}

}  // namespace weft::op

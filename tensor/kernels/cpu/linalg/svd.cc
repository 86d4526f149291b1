#include "tensor/ops/svd.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/scratch_matrix.h"
#include "tensor/kernels/cpu/linalg/batch.h"
#include "tensor/kernels/cpu/linalg/blocked_lu.h"
#include "tensor/kernels/cpu/linalg/svd_f32.h"
#include "tensor/kernels/cpu/linalg/svd_f64.h"
#include "tensor/kernels/cpu/linalg/symmetric.h"
#include "tensor/kernels/cpu/linalg/tall_panel.h"

namespace weft::kernels::cpu {
namespace {

template <class T> bool is_finite(Matrix<const T> a) {
  constexpr int64_t kFew = 16;
  if (a.row_stride < a.column_stride) a = a.transposed();
  if (a.column_stride == 1 && a.row_stride == a.columns) a = {a.data, 1, a.rows * a.columns, 0, 1};
  if (a.column_stride == 1 && a.columns >= kFew) {
    simd::Vec<T> zeros{};  // NaN where one is not finite
    for (int64_t i = 0; i < a.rows; ++i)
      for_lanes<T>(a.columns, [&](int64_t j, auto lanes) { zeros += lanes_at(&a.at(i, j), lanes) * T{0}; });
    return linalg::sum_of_lanes<T>(zeros) == 0;
  }
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j)
      if (!std::isfinite(a.at(i, j))) return false;
  return true;
}

/// The pseudoinverse of `scale` a for at least as many rows as columns.
void pinv_f64(const Matrix<const double>& a, double rtol, double atol, double scale, const Matrix<double>& out) {
  const int64_t m = a.rows, n = a.columns;
  const ScratchMatrix<double> u(m, n), vh(n, n);
  const Scratch<double> values(n);
  double* const s = values.data();
  linalg::svd_f64(a, true, s, u, vh);
  for (int64_t i = 0; i < n; ++i) s[i] *= scale;
  const double limit = std::max(atol, rtol * s[0]);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) vh.at(i, j) = s[i] > limit ? vh.at(i, j) / s[i] : 0;
  gemm<double>(vh.transposed(), u.transposed(), out);
}

/// Whether all singular values of a matrix, times `scale`, certainly count for pinv() and are close enough for its
/// inverse to be as precise: norms are at least the largest of them. `squares`: of the norms of both.
bool has_certain_rank(double squares, double squares_of_inverse, double rtol, double atol, double scale) {
  constexpr double kApart = 1e5, kSurely = 1 - 1e-10;  // norms are rounded
  const double norm = std::sqrt(squares), inverse = std::sqrt(squares_of_inverse);
  return norm * inverse * std::max(rtol, 1 / kApart) < kSurely && atol * inverse < scale * kSurely;
}

double sum_of_squares(const double* x, int64_t n) { return linalg::inner_product(x, x, n); }

/// x = r^-T for an upper triangle of few columns; both are dense. False where a value on the diagonal is 0.
bool invert_transposed(const Matrix<double>& r, const Matrix<double>& x) {
  const int64_t n = r.rows;
  for (int64_t i = 0; i < n; ++i) {
    if (r.at(i, i) == 0) return false;
    std::fill_n(&x.at(i, 0), n, 0.0);
    for (int64_t k = 0; k < i; ++k) linalg::add_multiple(-r.at(k, i), &x.at(k, 0), &x.at(i, 0), k + 1);
    x.at(i, i) = 1;
    for (int64_t j = 0; j <= i; ++j) x.at(i, j) /= r.at(i, i);
  }
  return true;
}

/// Of few columns: pinv(R) Q^T for a = Q R, where pinv(R) is R^-1 as a rule.
template <class T> void panel_pinv(const Matrix<const T>& a, double rtol, double atol, const Matrix<T>& out) {
  const int64_t n = a.columns;
  const linalg::TallPanel<double> panel(a);
  const double scale = panel.factor_scaled();
  const Matrix<double>& r = panel.r();
  const ScratchMatrix<double> x(n, n);
  const bool inverted =
      invert_transposed(r, x) &&
      has_certain_rank(sum_of_squares(r.data, n * n), sum_of_squares(x.data, n * n), rtol, atol, 1 / scale);
  if (!inverted) pinv_f64(r, rtol, atol, 1 / scale, x.transposed());
  panel.multiply(Matrix<const double>(x), out.transposed());
  // At the end: elements of the inverse of R times the scale may be more than f64 holds.
  for (int64_t i = 0; inverted && scale != 1 && i < out.rows; ++i)
    for (int64_t j = 0; j < out.columns; ++j) out.at(i, j) = static_cast<T>(out.at(i, j) * scale);
}

/// Whether the factors of `a` are good for an inverse: pivots are not far apart, and elements have hardly grown. (They
/// can grow to 2^n times the largest of a well-conditioned matrix, with an error as large; Wright 1993 has examples.)
bool are_stable(const Matrix<const double>& a, const Matrix<const double>& lu) {
  constexpr double kMostGrowth = 32, kApart = 1e5;
  const int64_t n = a.rows;
  double given = 0, grown = 0, least = std::abs(lu.at(0, 0)), most = least;
  for (int64_t i = 0; i < n; ++i) {
    const double pivot = std::abs(lu.at(i, i));
    least = std::min(least, pivot), most = std::max(most, pivot);
    for (int64_t j = 0; j < n; ++j) given = std::max(given, std::abs(a.at(i, j)));
    for (int64_t j = i; j < n; ++j) grown = std::max(grown, std::abs(lu.at(i, j)));
  }
  return least * kApart > most && grown <= kMostGrowth * given;
}

/// x = a^-1 for square `a`; false, and x undefined, where it is not as good as a pseudoinverse.
bool invert(const Matrix<const double>& a, double rtol, double atol, const Matrix<double>& x) {
  const int64_t n = a.rows;
  const ScratchMatrix<double> lu(a);
  const Scratch<int32_t> pivots(n);
  linalg::lu_in_place<double>(lu, pivots.data());
  if (!are_stable(a, lu)) return false;
  linalg::set_identity(x);
  linalg::for_column_blocks(n, static_cast<double>(n * n), [&](int64_t first, int64_t count) {
    linalg::solve_factored<double>(lu, pivots.data(), x.block(0, first, n, count));
  });
  return has_certain_rank(sum_of_squares(a.data, n * n), sum_of_squares(x.data, n * n), rtol, atol, 1);
}

/// x = (a^T a)^-1 for more rows than columns; false, and x undefined, if the condition number of a is so large that its
/// square, which is that of a^T a, loses more digits than f64 has beyond f32. The squares of f32 numbers fit f64.
bool invert_gram(const Matrix<const double>& a, double rtol, double atol, const Matrix<double>& x) {
  constexpr double kClose = 1e-3;
  const int64_t n = a.columns;
  const ScratchMatrix<double> r(n, n), inverse(n, n);
  gemm<double>(a.transposed(), a, r);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += r.at(i, i);
  if (linalg::cholesky_in_place<double>(r) != 0) return false;
  linalg::set_identity<double>(inverse);
  linalg::solve_triangle<double>(r, true, false, inverse);
  if (!has_certain_rank(squares, sum_of_squares(inverse.data, n * n), std::max(rtol, kClose), atol, 1)) return false;
  gemm<double>(inverse, inverse.transposed(), x);
  return true;
}

/// Of more rows than columns: pinv(R) Q^T as in panel_pinv(), or of f32, where that is as precise, (a^T a)^-1 a^T.
template <class T> void tall_pinv(const Matrix<const T>& a, double rtol, double atol, const Matrix<T>& out) {
  const int64_t m = a.rows, n = a.columns;
  const ScratchMatrix<double> q(a), v(m, n), t(linalg::kReflected, n), r(n, n), x(n, n);
  const Matrix<double> found = row_major(v.data, n, m);  // in the memory of V, which is written last
  if (std::is_same_v<T, float> && invert_gram(q, rtol, atol, x)) {
    gemm<double>(x, q.transposed(), found);
    return copy_matrix<double, T>(found, out);
  }
  linalg::reflect_blocks<double>(q, v, t);
  linalg::copy_upper_triangle<double>(q, r);
  linalg::first_columns<double>(v, t, q);
  bool inverted = !linalg::has_zero_on_diagonal<double>(r);
  if (inverted) {
    linalg::set_identity<double>(x);
    linalg::solve_triangle<double>(r, true, false, x);
    inverted = has_certain_rank(sum_of_squares(r.data, n * n), sum_of_squares(x.data, n * n), rtol, atol, 1);
  }
  if (!inverted) pinv_f64(r, rtol, atol, 1, x);
  gemm<double>(x, q.transposed(), found);
  copy_matrix<double, T>(found, out);
}

/// The pseudoinverse, computed in f64 for every dtype: the inverse of a small singular value has the relative error of
/// the value.
template <class T> void pinv(Matrix<const T> a, double rtol, double atol, const Matrix<T>& out) {
  if (a.rows < a.columns) return pinv<T>(a.transposed(), rtol, atol, out.transposed());
  const int64_t m = a.rows, n = a.columns;
  if (m == 1) {
    const double value = a.at(0, 0), size = std::abs(value);
    out.at(0, 0) = size > std::max(atol, rtol * size) ? static_cast<T>(1 / value) : T{0};
    return;
  }
  if (linalg::is_tall_panel(m, n)) return panel_pinv<T>(a, rtol, atol, out);
  if (m > n) return tall_pinv<T>(a, rtol, atol, out);
  const ScratchMatrix<double> wide(a), found(n, n);
  if (!invert(wide, rtol, atol, found)) pinv_f64(wide, rtol, atol, 1, found);
  copy_matrix<double, T>(found, out);
}

/// The same of a symmetric matrix, in f64, from its eigenvalues. `a` is overwritten.
template <class T> void pinv_symmetric(const ScratchMatrix<double>& a, double rtol, double atol, const Matrix<T>& out) {
  const int64_t n = a.rows;
  const ScratchMatrix<double> found(n, n), vectors(n, n), scaled(n, n);
  if (!invert(a, rtol, atol, found)) {
    const Scratch<double> memory(n);
    double* const values = memory.data();
    linalg::symmetric_eigen<double>(a, values, &vectors);
    const double limit = std::max(atol, rtol * std::max(std::abs(values[0]), std::abs(values[n - 1])));
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) scaled.at(i, j) = std::abs(values[i]) > limit ? vectors.at(i, j) / values[i] : 0;
    gemm<double>(vectors.transposed(), scaled, found);
  }
  copy_matrix<double, T>(found, out);
}

/// The symmetric matrix with the lower triangle of `a`, in `out`.
template <class T> void mirror(Matrix<const T> a, const Matrix<double>& out) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j <= i; ++j) out.at(i, j) = out.at(j, i) = a.at(i, j);
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
        if (vectors) linalg::set_identity(matrix_of<T>(u, i)), linalg::set_identity(matrix_of<T>(vh, i));
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
      if (hermitian) {
        const ScratchMatrix<double> whole(matrix.rows, matrix.columns);
        mirror<T>(matrix, whole);
        return is_finite<double>(whole) ? pinv_symmetric<T>(whole, rtol, atol, matrix_of<T>(out, i)) : failed.report(i);
      }
      if (!is_finite(matrix)) return failed.report(i);
      pinv<T>(matrix, rtol, atol, matrix_of<T>(out, i));
    });
  });
  failed.check(a, kNotFinite);
}

}  // namespace weft::op

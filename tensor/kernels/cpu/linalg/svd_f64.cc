#include "tensor/kernels/cpu/linalg/svd_f64.h"

#include <algorithm>
#include <cmath>

#include "tensor/kernels/cpu/linalg/bidiagonal.h"
#include "tensor/kernels/cpu/linalg/bidiagonal_svd.h"
#include "tensor/kernels/cpu/linalg/tall_panel.h"

namespace weft::kernels::cpu::linalg {
namespace {

/// A power of two that brings `a` near to 1: no square of its elements overflows or vanishes beside the largest.
double scale_of(Matrix<const double> a) {
  double largest = 0;
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.columns; ++j) largest = std::max(largest, std::abs(a.at(i, j)));
  if (largest == 0) return 1;
  constexpr int kMost = 1000;  // the scale and its inverse are no denormals
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -kMost, kMost));
}

/// A matrix of at least as many rows as columns, which is overwritten. Its singular values are written to `values` in
/// ascending order, the vectors to rows: `right` (n, n), `left` n rows, or as many as columns; where these are none,
/// values alone.
void decompose(Matrix<double> a, double* values, Matrix<double> left, Matrix<double> right) {
  const int64_t n = a.columns;
  Scratch<double> beside(n);
  const Bidiagonal reduced(a, values, beside.data());
  if (right.rows == 0) return bidiagonal_values(values, beside.data(), n);
  bidiagonal_vectors(values, beside.data(), left.block(0, 0, n, n), right);
  for (int64_t i = 0; i < left.rows; ++i) {
    const int64_t known = i < n ? n : 0;
    std::fill_n(&left.at(i, known), left.columns - known, 0.0);
    if (i >= n) left.at(i, i) = 1;
  }
  reduced.transform_left(left);
  reduced.transform_right(right);
}

/// From the first rows, ascending, to the first columns, descending; others stay in their order.
void put_columns(Matrix<const double> rows, int64_t n, Matrix<double> out) {
  const Matrix<const double> turned = {rows.data + (n - 1) * rows.row_stride, n, rows.columns, -rows.row_stride, 1};
  copy_matrix<double, double>(turned.transposed(), out.block(0, 0, out.rows, n));
  copy_matrix<double, double>(rows.block(n, 0, out.columns - n, rows.columns).transposed(),
                              out.block(0, n, out.rows, out.columns - n));
}

/// By way of the R of a = Q R, which is small.
void tall_svd(Matrix<double> a, double* values, const Matrix<double>& u, const Matrix<double>& v) {
  const int64_t m = a.rows, n = a.columns, columns = u.columns;
  const ScratchMatrix<double> reflected(m, n), t(kReflected, n), r(n, n);
  reflect_blocks<double>(a, reflected, t);
  copy_upper_triangle<double>(a, r);
  if (v.rows == 0) return decompose(r, values, {}, {});
  const ScratchMatrix<double> left(n, n), right(n, n), q(m, columns), product(n, m);
  decompose(r, values, left, right);
  first_columns<double>(reflected, t, q);
  gemm<double>(left, q.block(0, 0, m, n).transposed(), product);
  put_columns(product, n, u.block(0, 0, m, n));
  copy_matrix<double, double>(q.block(0, n, m, columns - n), u.block(0, n, m, columns - n));
  put_columns(right, n, v);
}

/// s, of a that was scaled twice (the product of both may overflow), and in ascending order.
template <class T> void write_values(const double* values, int64_t n, double first, double second, T* s) {
  for (int64_t i = 0; i < n; ++i) s[i] = static_cast<T>(values[n - 1 - i] / second / first);
}

}  // namespace

template <class T>
bool svd_of_few_columns(Matrix<const T> a, bool vectors, T* s, const Matrix<T>& u, const Matrix<T>& vh) {
  const int64_t m = a.rows, n = a.columns;
  if (!is_tall_panel(m, n) || 2 * m <= 3 * n || (vectors && u.columns > n)) return false;
  const TallPanel<double> panel(a);
  const double first = panel.factor_scaled();
  const Matrix<double>& r = panel.r();
  const double second = scale_of(r);
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the triangle has memory
  for (int64_t i = 0; i < n * n; ++i) r.data[i] *= second;
  const Scratch<double> values(n);
  if (!vectors) {
    decompose(r, values.data(), {}, {});
    return write_values(values.data(), n, first, second, s), true;
  }
  const ScratchMatrix<double> left(n, n), right(n, n), turned(n, n);
  decompose(r, values.data(), left, right);
  write_values(values.data(), n, first, second, s);
  put_columns(left, n, turned);
  panel.multiply(Matrix<const double>(turned), u);
  put_columns(right, n, turned);
  copy_matrix<double, T>(turned, vh.transposed());
  return true;
}
template bool svd_of_few_columns(Matrix<const float>, bool, float*, const Matrix<float>&, const Matrix<float>&);
template bool svd_of_few_columns(Matrix<const double>, bool, double*, const Matrix<double>&, const Matrix<double>&);

void svd_f64(Matrix<const double> a, bool vectors, double* s, const Matrix<double>& u, const Matrix<double>& vh) {
  if (a.rows == 1 && a.columns == 1) return svd_of_number(a.at(0, 0), vectors, s, u, vh);
  if (a.rows < a.columns) return svd_f64(a.transposed(), vectors, s, vh.transposed(), u.transposed());
  if (svd_of_few_columns<double>(a, vectors, s, u, vh)) return;
  const int64_t m = a.rows, n = a.columns;
  const ScratchMatrix<double> work(a);
  const double scale = scale_of(work);
  if (scale != 1)
    for (int64_t i = 0; i < m * n; ++i) work.data[i] *= scale;
  const Matrix<double> v = vectors ? vh.transposed() : Matrix<double>{};
  if (2 * m > 3 * n) {
    tall_svd(work, s, u, v);
  } else if (!vectors) {
    decompose(work, s, {}, {});
  } else {
    const ScratchMatrix<double> left(u.columns, m), right(n, n);
    decompose(work, s, left, right);
    put_columns(left, n, u);
    put_columns(right, n, v);
  }
  std::reverse(s, s + n);
  for (int64_t i = 0; i < n; ++i) s[i] /= scale;
}

}  // namespace weft::kernels::cpu::linalg

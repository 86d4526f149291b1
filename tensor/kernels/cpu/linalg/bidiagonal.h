// Matrices to upper bidiagonal form, a = Q B P^T, by Householder reflections from the left and the right in turns
// (Golub and Kahan 1965). What a reflection subtracts from the matrix is subtracted while the next one is multiplied
// with it, so that a step passes over the matrix twice (Howell and others, "Cache efficient bidiagonalization", 2008).
#pragma once

#include "tensor/kernels/cpu/linalg/row_reflectors.h"

namespace weft::kernels::cpu::linalg {

/// f(band, begin, end) for runs of adjacent rows of a large matrix. Each band is spread over the whole matrix, so that
/// bands have equal shares of the rows that are left, and a thread keeps the same rows in its cache. A small matrix is
/// one band. The size alone decides, so that sums over bands have the same bits at any thread count.
inline constexpr int64_t kRowBands = 8;
inline int64_t row_bands(int64_t rows, int64_t columns) { return rows * columns < 1 << 15 ? 1 : kRowBands; }
template <class F> void for_row_bands(int64_t begin, int64_t end, int64_t columns, const F& f) {
  constexpr int64_t kRows = 16;
  if (row_bands(end - begin, columns) == 1) return f(0, begin, end);
  parallel_for(kRowBands, 1, [&](int64_t band, int64_t stop) {
    for (; band < stop; ++band)
      for (int64_t i = band * kRows; i < end; i += kRowBands * kRows)
        if (i + kRows > begin) f(band, std::max(i, begin), std::min(i + kRows, end));
  });
}

/// f(i, count) for `count` of 4 or 1 rows from row i on, all of [begin, end).
template <class F> void for_few_rows(int64_t begin, int64_t end, const F& f) {
  constexpr int kRows = 4;
  for (; begin + kRows <= end; begin += kRows) f(begin, std::integral_constant<int, kRows>{});
  for (; begin < end; ++begin) f(begin, std::integral_constant<int, 1>{});
}

/// Rows [begin, m) and columns [first, n) of row-major `a` (m, n): a -= p q^T, and then y = scale a^T v. `sums` is
/// (kRowBands, n).
inline void update_and_multiply_left(Matrix<double> a, int64_t begin, int64_t first, const double* p, const double* q,
                                     const double* v, double scale, double* y, double* sums) {
  using V = simd::Vec<double>;
  const int64_t n = a.columns, columns = n - first, bands = row_bands(a.rows - begin, columns);
  for (int64_t band = 0; band < bands; ++band) std::fill_n(sums + band * n + first, columns, 0.0);
  for_row_bands(begin, a.rows, columns, [&](int64_t band, int64_t from, int64_t to) {
    double* const sum = sums + band * n + first;
    for_few_rows(from, to, [&]<int kCount>(int64_t i, std::integral_constant<int, kCount>) {
      double* const row = &a.at(i, first);
      for_lanes<double>(columns, [&](int64_t j, auto lanes) {
        const V across = lanes_at(q + first + j, lanes);
        V total = lanes_at(sum + j, lanes);
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          const V x = lanes_at(row + r * a.row_stride + j, lanes) - p[i + r] * across;
          put_lanes(row + r * a.row_stride + j, x, lanes);
          total += v[i + r] * x;
        }
        put_lanes(sum + j, total, lanes);
      });
    });
  });
  for (int64_t j = first; j < n; ++j) {
    double total = 0;
    for (int64_t band = 0; band < bands; ++band) total += sums[band * n + j];
    y[j] = scale * total;
  }
}

/// a -= p q^T, and then x = scale a u, of the same part.
inline void update_and_multiply_right(Matrix<double> a, int64_t begin, int64_t first, const double* p, const double* q,
                                      const double* u, double scale, double* x) {
  using V = simd::Vec<double>;
  const int64_t columns = a.columns - first;
  for_row_bands(begin, a.rows, columns, [&](int64_t, int64_t from, int64_t to) {
    for_few_rows(from, to, [&]<int kCount>(int64_t i, std::integral_constant<int, kCount>) {
      double* const row = &a.at(i, first);
      V sums[kCount] = {};
      for_lanes<double>(columns, [&](int64_t j, auto lanes) {
        const V across = lanes_at(q + first + j, lanes), along = lanes_at(u + first + j, lanes);
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          const V value = lanes_at(row + r * a.row_stride + j, lanes) - p[i + r] * across;
          put_lanes(row + r * a.row_stride + j, value, lanes);
          sums[r] += value * along;
        }
      });
      for (int r = 0; r < kCount; ++r) x[i + r] = scale * sum_of_lanes<double>(sums[r]);
    });
  });
}

/// Reduces a matrix of at least as many rows as columns.
class Bidiagonal {
 public:
  /// Row-major `a` (m, n) is overwritten. The diagonal of B is written to d (n), the superdiagonal to e (n - 1).
  Bidiagonal(Matrix<double> a, double* d, double* e)
      : left_(a.columns, a.rows, 0), right_(std::max<int64_t>(0, a.columns - 1), a.columns, 1) {
    const int64_t m = a.rows, n = a.columns;
    Scratch<double> room(m + 2 * n), sums(checked_multiply(kRowBands, n));
    // What is to be subtracted: v y^T of the reflection from the left, then x u^T of the one from the right.
    double *const x = room.data(), *const y = x + m, *const none = y + n;
    std::fill_n(x, m, 0.0);
    std::fill_n(none, n, 0.0);
    for (int64_t j = 0; j < n; ++j) {
      const double* const u = j == 0 ? none : right_.row(j - 1);
      double* const v = left_.row(j);
      for (int64_t i = j; i < m; ++i) v[i] = a.at(i, j) - x[i] * u[j];
      d[j] = left_.make(j);
      if (j + 1 == n) return;
      update_and_multiply_left(a, j, j + 1, x, u, v, left_.scale(j), y, sums.data());
      double* const next = right_.row(j);
      for (int64_t i = j + 1; i < n; ++i) next[i] = a.at(j, i) - y[i];
      e[j] = right_.make(j);
      update_and_multiply_right(a, j + 1, j + 1, v, y, next, right_.scale(j), x);
    }
  }

  /// Rows of z, left or right vectors of B, become those of a.
  void transform_left(Matrix<double> z) const { left_.transform(z); }
  void transform_right(Matrix<double> z) const { right_.transform(z); }

 private:
  RowReflectors<double> left_, right_;
};

}  // namespace weft::kernels::cpu::linalg

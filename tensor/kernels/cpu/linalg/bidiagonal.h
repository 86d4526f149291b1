// Matrices to upper bidiagonal form, a = Q B P^T, by Householder reflections from the left and the right in turns
// (Golub and Kahan 1965). What a reflection subtracts from the matrix is subtracted while the next one is multiplied
// with it, so that a step passes over the matrix twice (Howell and others, "Cache efficient bidiagonalization", 2008).
#pragma once

#include "tensor/kernels/cpu/linalg/row_reflectors.h"

namespace weft::kernels::cpu::linalg {

/// Rows of row-major `a` (m, n): a -= p q^T, and then y += a^T v. `a` is passed in blocks of columns by several threads.
inline void update_and_multiply_left(Matrix<double> a, const double* p, const double* q, const double* v, double* y) {
  constexpr int64_t kRows = 4, kColumns = 128;
  using V = simd::Vec<double>;
  const int64_t blocks = ceil_div(a.columns, kColumns);
  parallel_for(blocks, 1 + 32768 / (a.rows * kColumns), [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kColumns, columns = std::min(a.columns, end * kColumns) - first;
    const auto pass = [&]<int kCount>(std::integral_constant<int, kCount>, int64_t i) {
      double* const row = a.data + i * a.row_stride + first;
      for_lanes<double>(columns, [&](int64_t j, auto lanes) {
        const V across = lanes_at(q + first + j, lanes);
        V sum = lanes_at(y + first + j, lanes);
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          const V x = lanes_at(row + r * a.row_stride + j, lanes) - p[i + r] * across;
          put_lanes(row + r * a.row_stride + j, x, lanes);
          sum += v[i + r] * x;
        }
        put_lanes(y + first + j, sum, lanes);
      });
    };
    int64_t i = 0;
    for (; i + kRows <= a.rows; i += kRows) pass(std::integral_constant<int, kRows>{}, i);
    for (; i < a.rows; ++i) pass(std::integral_constant<int, 1>{}, i);
  });
}

/// a -= p q^T, and then x = a u.
inline void update_and_multiply_right(Matrix<double> a, const double* p, const double* q, const double* u, double* x) {
  constexpr int64_t kRows = 4;
  using V = simd::Vec<double>;
  const int64_t blocks = ceil_div(a.rows, kRows);
  parallel_for(blocks, 1 + 32768 / (a.columns * kRows), [&](int64_t begin, int64_t end) {
    const auto pass = [&]<int kCount>(std::integral_constant<int, kCount>, int64_t i) {
      double* const row = a.data + i * a.row_stride;
      V sums[kCount] = {};
      for_lanes<double>(a.columns, [&](int64_t j, auto lanes) {
        const V across = lanes_at(q + j, lanes), along = lanes_at(u + j, lanes);
#pragma GCC unroll 4
        for (int r = 0; r < kCount; ++r) {
          const V value = lanes_at(row + r * a.row_stride + j, lanes) - p[i + r] * across;
          put_lanes(row + r * a.row_stride + j, value, lanes);
          sums[r] += value * along;
        }
      });
      for (int r = 0; r < kCount; ++r) x[i + r] = sum_of_lanes<double>(sums[r]);
    };
    int64_t i = begin * kRows;
    const int64_t stop = std::min(a.rows, end * kRows);
    for (; i + kRows <= stop; i += kRows) pass(std::integral_constant<int, kRows>{}, i);
    for (; i < stop; ++i) pass(std::integral_constant<int, 1>{}, i);
  });
}

/// Reduces a matrix of at least as many rows as columns.
class Bidiagonal {
 public:
  /// Row-major `a` (m, n) is used up. The diagonal of B comes to lie in d (n), what is above it in e (n - 1).
  Bidiagonal(Matrix<double> a, double* d, double* e)
      : left_(a.columns, a.rows, 0), right_(std::max<int64_t>(0, a.columns - 1), a.columns, 1) {
    const int64_t m = a.rows, n = a.columns;
    Scratch<double> room(checked_multiply(2, m + n));
    // What is to be subtracted: v y^T of the reflection from the left, then x u^T of the one from the right.
    double *const x = room.data(), *const y = x + m, *const column = y + n, *const none = column + m;
    std::fill_n(x, m, 0.0);
    std::fill_n(none, n, 0.0);
    for (int64_t j = 0; j < n; ++j) {
      const double* const u = j == 0 ? none : right_.row(j - 1);
      const int64_t below = m - j, beside = n - j - 1;
      double* const v = left_.row(j);
      for (int64_t i = j; i < m; ++i) v[i] = a.at(i, j) - x[i] * u[j];
      d[j] = left_.make(j);
      if (beside == 0) return;
      std::fill_n(y + j + 1, beside, 0.0);
      update_and_multiply_left(a.block(j, j + 1, below, beside), x + j, u + j + 1, v + j, y + j + 1);
      for (int64_t i = j + 1; i < n; ++i) y[i] *= left_.scale(j);
      double* const next = right_.row(j);
      for (int64_t i = j + 1; i < n; ++i) next[i] = a.at(j, i) - y[i];
      e[j] = right_.make(j);
      update_and_multiply_right(a.block(j + 1, j + 1, below - 1, beside), v + j + 1, y + j + 1, next + j + 1,
                                x + j + 1);
      for (int64_t i = j + 1; i < m; ++i) x[i] *= right_.scale(j);
    }
  }

  /// Rows of z, left or right vectors of B, become those of a.
  void transform_left(Matrix<double> z) const { left_.transform(z); }
  void transform_right(Matrix<double> z) const { right_.transform(z); }

 private:
  RowReflectors<double> left_, right_;
};

}  // namespace weft::kernels::cpu::linalg

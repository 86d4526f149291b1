// LU factors of one row-major matrix, in place, and systems that are solved by them. A matrix is split in halves
// (blocked.h); one of a few hundred columns is factored panel by panel, so that threads have work while a panel is
// factored.
#pragma once

#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/linalg/blocked.h"

namespace weft::kernels::cpu::linalg {

/// x / by, as precise as a division and several times as fast: products with the inverse, each corrected by what it
/// leaves (Markstein 1990).
template <class T> void divide_all(T* x, int64_t n, T by) {
  const T inverse = 1 / by;
  if (!std::isnormal(inverse)) {
    for (int64_t i = 0; i < n; ++i) x[i] /= by;
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const T quotient = x[i] * inverse;
    x[i] = quotient + inverse * (x[i] - quotient * by);
  }
}

/// LU of a few columns of a matrix. Each is a run of memory here, with zeros behind it for loops over whole registers.
template <class T> class LuPanel {
 public:
  /// As many columns as a cache line has elements.
  static constexpr int64_t kColumns = 64 / static_cast<int64_t>(sizeof(T));

  explicit LuPanel(Matrix<const T> a)
      : rows_(a.rows),
        columns_(a.columns),
        stride_(ceil_div(a.rows + kStep, kColumns) * kColumns),
        values_(checked_multiply(stride_, a.columns)) {
    for (int64_t j = 0; j < columns_; ++j) std::fill(column(j) + rows_, column(j) + stride_, T{0});
    copy_matrix_serial<T, T>(a, matrix());
  }
  Matrix<T> matrix() const { return {values_.data(), rows_, columns_, 1, stride_}; }

  void factor(int32_t* pivots) const {
    for (int64_t j = 0; j < columns_; ++j) {
      const int64_t best = eliminate(j);
      pivots[j] = static_cast<int32_t>(best + 1);
      if (best != j)
        for (int64_t k = 0; k < columns_; ++k) std::swap(column(k)[j], column(k)[best]);
      const T pivot = column(j)[j];
      if (pivot != 0) divide_all(column(j) + j + 1, rows_ - j - 1, pivot);  // else all below it is 0
    }
  }

 private:
  static constexpr int64_t N = simd::kLanes<T>, kVectors = 2, kStep = kVectors * N;
  struct Larger {
    template <class V> static V combine(V a, V b) { return simd::larger(a, b); }
  };

  T* column(int64_t j) const { return values_.data() + j * stride_; }

  /// Subtracts from column j what the columns before it eliminate. The place of its largest absolute value from row j
  /// on, the first of several. A NaN does not count, unless it is in row j.
  int64_t eliminate(int64_t j) const {
    T* const x = column(j);
    for (int64_t k = 0; k < j; ++k)
      for (int64_t i = k + 1; i < j; ++i) x[i] -= x[k] * column(k)[i];
    simd::Vec<T> largest[kVectors] = {};
    for (int64_t i = j; i < rows_; i += kStep) {
      simd::Vec<T> values[kVectors];
      for (int v = 0; v < kVectors; ++v) values[v] = simd::load<T>(x + i + v * N);
      for (int64_t k = 0; k < j; ++k) {
        const T factor = x[k];
        for (int v = 0; v < kVectors; ++v) values[v] -= factor * simd::load<T>(column(k) + i + v * N);
      }
      for (int v = 0; v < kVectors; ++v) {
        simd::store<T>(x + i + v * N, values[v]);
        largest[v] = simd::larger(simd::Vec<T>(values[v] < 0 ? -values[v] : values[v]), largest[v]);
      }
    }
    for (int v = 1; v < kVectors; ++v) largest[0] = simd::larger(largest[v], largest[0]);
    return std::isnan(x[j]) ? j : find(x, j, simd::fold_lanes<Larger, T, N>(largest[0]));
  }
  /// The first place from i on of this absolute value, which is there.
  static int64_t find(const T* x, int64_t i, T size) {
    for (int found = 0; found == 0; i += kStep)
      for (int64_t k = 0; k < kStep; ++k) found |= static_cast<int>(std::abs(x[i + k]) == size);
    i -= kStep;
    while (std::abs(x[i]) != size) ++i;
    return i;
  }

  int64_t rows_, columns_, stride_;
  Scratch<T> values_;
};

/// What is right of `panel`, which is factored: rows change places, and the first ones, as many as the panel has
/// columns, become those of U.
template <class T> void solve_beside(Matrix<const T> panel, const int32_t* pivots, Matrix<T> right) {
  const int64_t n = panel.columns;
  exchange_rows(right, pivots, 0, n);
  solve_triangle<T>(panel.block(0, 0, n, n), false, true, right.block(0, 0, n, right.columns));
}
/// The other rows become what is left to factor.
template <class T> void eliminate_beside(Matrix<const T> panel, Matrix<T> right) {
  const int64_t n = panel.columns, rows = panel.rows - n;
  subtract_product<T>(panel.block(n, 0, rows, n), right.block(0, 0, n, right.columns),
                      right.block(n, 0, rows, right.columns));
}

template <class T> void lu_in_place(Matrix<T> a, int32_t* pivots);

/// f(i) for i in [first, last), each as soon as a thread is free for it, and the first one first. A thread prefers what
/// its cache has from calls with other `first`: the first thread what follows next, as that is what the others wait
/// for, and each the same ones of the rest. `work`: multiplications of all.
template <class F> void for_each_piece(int64_t first, int64_t last, double work, const F& f) {
  constexpr double kLeast = 4e6;  // what is less is done before another core has read what it needs
  const int64_t threads = work < kLeast ? 1 : region_threads();
  std::vector<std::atomic<bool>> taken(static_cast<size_t>(last - first));
  parallel_for(threads, 1, [&](int64_t thread, int64_t) {
    const auto take = [&](int64_t i) {
      if (!taken[static_cast<size_t>(i - first)].exchange(true)) f(i);
    };
    for (int64_t i = first; i < last; ++i)
      if ((i <= first + 1 ? 0 : i % threads) == thread) take(i);
    for (int64_t i = last; i-- > first;) take(i);
  });
}

/// LU, panel by panel, of a matrix of no more columns than rows. While what is right of a panel is updated, one thread
/// goes on to factor the next panel.
template <class T> void lu_by_panels(Matrix<T> a, int32_t* pivots) {
  constexpr int64_t kWidth = 64;
  const int64_t n = a.columns, panels = ceil_div(n, kWidth);
  const auto below = [&](int64_t k, int64_t j) { return a.block(k, j, a.rows - k, std::min(kWidth, n - j)); };
  lu_in_place<T>(below(0, 0), pivots);
  for (int64_t k = 0; k < n; k += kWidth) {
    const Matrix<const T> panel = below(k, k);
    const double work = multiplications(panel, Matrix<const T>(a.block(0, 0, panel.columns, n - k)));
    for_each_piece(k / kWidth + 1, k / kWidth + panels, work, [&](int64_t piece) {
      const int64_t j = piece % panels * kWidth;  // right of the panel, then left of it
      if (j < k) return exchange_rows(below(k, j), pivots + k, 0, panel.columns);
      solve_beside<T>(panel, pivots + k, below(k, j));
      eliminate_beside<T>(panel, below(k, j));
      if (j == k + kWidth) lu_in_place<T>(below(j, j), pivots + j);
    });
  }
  for (int64_t i = 0; i < n; ++i) pivots[i] += static_cast<int32_t>(i / kWidth * kWidth);
}

/// Row-major `a` becomes its factors, as op::LuFactor says.
template <class T> void lu_in_place(Matrix<T> a, int32_t* pivots) {
  constexpr int64_t kLeastPanelled = 200, kMostPanelled = 512;  // columns; products of more are faster as a whole
  const int64_t n = std::min(a.rows, a.columns);
  if (n == 0) return;
  if (a.columns == n && n <= LuPanel<T>::kColumns) {
    const LuPanel<T> panel(a);
    panel.factor(pivots);
    return copy_matrix_serial<T, T>(panel.matrix(), a);
  }
  if (a.columns == n && n > kLeastPanelled && n <= kMostPanelled) return lu_by_panels(a, pivots);
  const int64_t h = a.columns > n ? n : half(n);
  const Matrix<T> left = a.block(0, 0, a.rows, h), right = a.block(0, h, a.rows, a.columns - h);
  lu_in_place<T>(left, pivots);
  for_column_blocks(right.columns, static_cast<double>(a.rows * h), [&](int64_t first, int64_t count) {
    solve_beside<T>(left, pivots, right.block(0, first, a.rows, count));
  });
  if (h == n) return;
  eliminate_beside<T>(left, right);
  lu_in_place<T>(right.block(h, 0, a.rows - h, right.columns), pivots + h);
  for (int64_t i = h; i < n; ++i) pivots[i] += static_cast<int32_t>(h);
  for_column_blocks(h, static_cast<double>(n - h), [&](int64_t first, int64_t count) {
    exchange_rows(left.block(0, first, a.rows, count), pivots, h, n);
  });
}

/// x = a^-1 x for row-major x and the square matrix a = P L U that lu_in_place() has factored.
template <class T> void solve_factored(Matrix<const T> lu, const int32_t* pivots, Matrix<T> x) {
  exchange_rows(x, pivots, 0, lu.rows);
  solve_triangle<T>(lu, false, true, x);
  solve_triangle<T>(lu, true, false, x);
}

}  // namespace weft::kernels::cpu::linalg

// Triangular systems, LU and Cholesky of one row-major matrix, in place. Each splits itself in halves, so that nearly
// all of the work is matrix products (Gustavson, "Recursion leads to automatic variable blocking", 1997). LU of a few
// hundred columns goes panel by panel instead, so that threads have work while a panel is factored.
#pragma once

#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/linalg/solve_column.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu::linalg {

/// Where halving stops: rows of a triangle, columns of a panel of QR.
inline constexpr int64_t kTriangle = 32, kPanel = 24;
/// Fewer multiplications than this are done by loops.
inline constexpr double kFewMultiplications = 4096;

/// Half of n, at a multiple of a register's width where there is one.
inline int64_t half(int64_t n) { return n <= 32 ? n / 2 : (n / 2 + 15) / 16 * 16; }

/// f(first, count) for blocks of columns, in parallel: systems with several right sides are as many systems. The blocks
/// do not depend on the threads, and so do no bits. `work`: multiplications for a column.
template <class F> void for_column_blocks(int64_t columns, double work, const F& f) {
  constexpr int64_t kColumns = 128;
  constexpr double kWork = 1 << 18;  // of one piece
  const int64_t blocks = columns < 2 * kColumns ? 1 : ceil_div(columns, kColumns);
  const double of_block = std::max(1.0, work * static_cast<double>(kColumns));
  parallel_for(blocks, std::max<int64_t>(1, static_cast<int64_t>(kWork / of_block)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * columns / blocks;
      f(first, (i + 1) * columns / blocks - first);
    }
  });
}

/// f(i, rows, j, columns) for the tiles on and above the diagonal of an n x n matrix, in parallel, at least `grain`
/// tiles for each thread. The tiles do not depend on the number of threads, so the bits do not either.
template <class F> void for_upper_tiles(int64_t n, int64_t tile, int64_t grain, const F& f) {
  const int64_t tiles = ceil_div(n, tile);
  const auto edge = [&](int64_t k) { return std::min(k * tile, n); };
  parallel_for(tiles * (tiles + 1) / 2, grain, [&](int64_t begin, int64_t end) {
    for (int64_t column = 0, first = 0; column < tiles; first += ++column) {  // tiles of a column follow each other
      const int64_t j = edge(column), columns = edge(column + 1) - j;
      for (int64_t row = std::max<int64_t>(0, begin - first); row <= column && first + row < end; ++row)
        f(edge(row), edge(row + 1) - edge(row), j, columns);
    }
  });
}

/// -a, in a's memory order.
template <class T> class Negated {
 public:
  explicit Negated(Matrix<const T> a)
      : copy_(checked_multiply(a.rows, a.columns)),
        by_columns_(a.row_stride == 1 && a.column_stride != 1),
        rows_(a.rows),
        columns_(a.columns) {
    const Matrix<const T> from = by_columns_ ? a.transposed() : a;
    for (int64_t i = 0; i < from.rows; ++i) {
      T* const out = copy_.data() + i * from.columns;
      for (int64_t j = 0; j < from.columns; ++j) out[j] = -from.at(i, j);
    }
  }
  Matrix<const T> matrix() const {
    return by_columns_ ? row_major<const T>(copy_.data(), columns_, rows_).transposed()
                       : row_major<const T>(copy_.data(), rows_, columns_);
  }

 private:
  const Scratch<T> copy_;
  const bool by_columns_;
  const int64_t rows_, columns_;
};

/// c -= a b, c row-major. The bits of factors and solutions do not depend on the number of threads.
template <class T> void subtract_product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c) {
  if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
  if (b.column_stride == 1 && multiplications(a, b) <= kFewMultiplications) {
    for (int64_t i = 0; i < c.rows; ++i) {
      T* const out = &c.at(i, 0);
      for (int64_t k = 0; k < a.columns; ++k) {
        const T factor = a.at(i, k);
        const T* const row = b.data + k * b.row_stride;
        for (int64_t j = 0; j < c.columns; ++j) out[j] -= factor * row[j];
      }
    }
    return;
  }
  const bool left = a.rows <= b.columns;  // the smaller of the two is negated
  const Negated<T> negated(left ? a : b);
  left ? own_gemm<T>(negated.matrix(), b, c, true) : own_gemm<T>(a, negated.matrix(), c, true);
}

/// c -= p^T p for the upper triangle of c, which is row-major as p; what is below it is not kept. The tiles of c do not
/// depend on the threads.
template <class T> void subtract_gram(Matrix<const T> p, Matrix<T> c) {
  const int64_t n = p.columns, kTile = n > 512 ? 128 : 64;
  Scratch<T> copy(checked_multiply(n, p.rows));
  const Matrix<T> negated = row_major(copy.data(), n, p.rows);
  copy_matrix<T, T>(p.transposed(), negated);
  for (int64_t i = 0; i < n * p.rows; ++i) negated.data[i] = -negated.data[i];
  for_upper_tiles(n, kTile, 1, [&](int64_t i, int64_t rows, int64_t j, int64_t columns) {
    own_gemm<T>(negated.block(i, 0, rows, p.rows), p.block(0, j, p.rows, columns), c.block(i, j, rows, columns), true);
  });
}

/// solve_triangle() of a few columns, of which registers hold the row that is worked out. kWhole: they fill kVectors
/// registers; else there are `count` of them, in one.
template <class T, int kVectors, bool kWhole>
void solve_strip(Matrix<const T> tri, bool upper, bool unit, T* b, int64_t stride, int count) {
  constexpr int N = simd::kLanes<T>;
  const auto read = [&](const T* p) {
    if constexpr (kWhole) return simd::load<T>(p);
    return simd::load_part<T>(p, count);
  };
  const int64_t n = tri.rows;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    T* const row = b + i * stride;
    simd::Vec<T> values[kVectors];
    for (int v = 0; v < kVectors; ++v) values[v] = read(row + v * N);
    for (int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k) {
      const T factor = tri.at(i, k);
      const T* const known = b + k * stride;
      for (int v = 0; v < kVectors; ++v) values[v] -= factor * read(known + v * N);
    }
    for (int v = 0; v < kVectors; ++v) {
      if (!unit) values[v] /= tri.at(i, i);
      simd::store_part<T>(row + v * N, values[v], kWhole ? N : count);
    }
  }
}

template <class T> void solve_triangle(Matrix<const T> tri, bool upper, bool unit, Matrix<T> b);

/// solve_triangle() of each column, in contiguous memory.
template <class T> void solve_each_column(Matrix<const T> tri, bool upper, bool unit, Matrix<T> b) {
  const Scratch<T> memory(b.rows);
  const Matrix<T> column{memory.data(), b.rows, 1, 1, 1};
  for (int64_t j = 0; j < b.columns; ++j) {
    const Matrix<T> given = b.block(0, j, b.rows, 1);
    copy_matrix_serial<T, T>(given, column);
    solve_triangle<T>(tri, upper, unit, column);
    copy_matrix_serial<T, T>(column, given);
  }
}

/// b = tri^-1 b for a lower or upper triangle (any strides), with ones on its diagonal where `unit`; b is row-major.
template <class T> void solve_triangle(Matrix<const T> tri, bool upper, bool unit, Matrix<T> b) {
  const int64_t n = tri.rows;
  if (b.columns == 1 && b.row_stride == 1) {
    if (is_column_system<T>(tri)) return solve_column<T>(tri, upper, unit, b.data);
  } else if (b.columns <= 2) {  // fewer than a product's tile is faster with
    return solve_each_column<T>(tri, upper, unit, b);
  }
  if (n > kTriangle) {
    const int64_t h = half(n), rest = n - h;
    const Matrix<T> top = b.block(0, 0, h, b.columns), bottom = b.block(h, 0, rest, b.columns);
    if (upper) {
      solve_triangle<T>(tri.block(h, h, rest, rest), true, unit, bottom);
      subtract_product<T>(tri.block(0, h, h, rest), bottom, top);
      return solve_triangle<T>(tri.block(0, 0, h, h), true, unit, top);
    }
    solve_triangle<T>(tri.block(0, 0, h, h), false, unit, top);
    subtract_product<T>(tri.block(h, 0, rest, h), top, bottom);
    return solve_triangle<T>(tri.block(h, h, rest, rest), false, unit, bottom);
  }
  constexpr int N = simd::kLanes<T>, kVectors = 4;
  int64_t j = 0;
  for (; j + kVectors * N <= b.columns; j += kVectors * N)
    solve_strip<T, kVectors, true>(tri, upper, unit, b.data + j, b.row_stride, N);
  for (; j < b.columns; j += N)
    solve_strip<T, 1, false>(tri, upper, unit, b.data + j, b.row_stride,
                             static_cast<int>(std::min<int64_t>(N, b.columns - j)));
}

/// The upper triangle of row-major `a` becomes u with u^T u = a; what is below it is neither read nor kept. False where
/// a is not positive definite.
template <class T> bool cholesky_in_place(Matrix<T> a) {
  const int64_t n = a.rows;
  if (n > kTriangle) {
    const int64_t h = half(n), rest = n - h;
    const Matrix<T> first = a.block(0, 0, h, h), corner = a.block(0, h, h, rest), last = a.block(h, h, rest, rest);
    if (!cholesky_in_place<T>(first)) return false;
    for_column_blocks(rest, static_cast<double>(h * h / 2), [&](int64_t begin, int64_t count) {
      solve_triangle<T>(first.transposed(), false, false, corner.block(0, begin, h, count));
    });
    subtract_gram<T>(corner, last);
    return cholesky_in_place<T>(last);
  }
  for (int64_t i = 0; i < n; ++i) {
    T* const row = &a.at(i, 0);
    if (!(row[i] > 0) || !std::isfinite(row[i])) return false;
    const T root = std::sqrt(row[i]);
    for (int64_t j = i; j < n; ++j) row[j] /= root;
    for (int64_t k = i + 1; k < n; ++k) {
      T* const below = &a.at(k, 0);
      const T factor = row[k];
      for (int64_t j = k; j < n; ++j) below[j] -= factor * row[j];
    }
  }
  return true;
}

template <class T> void swap_rows(Matrix<T> a, int64_t i, int64_t k) {
  if (i == k) return;
  T *const x = a.data + i * a.row_stride, *const y = a.data + k * a.row_stride;
  for (int64_t j = 0; j < a.columns; ++j) std::swap(x[j], y[j]);
}
/// Rows [first, end) of a, one after the other, change places with those that `pivots` counts from 1.
template <class T> void exchange_rows(Matrix<T> a, const int32_t* pivots, int64_t first, int64_t end) {
  for (int64_t i = first; i < end; ++i) swap_rows(a, i, pivots[i] - 1);
}

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

}  // namespace weft::kernels::cpu::linalg

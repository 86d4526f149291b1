// Triangular systems, LU and Cholesky of one row-major matrix, in place. Each splits itself in halves, so that nearly
// all of the work is matrix products (Gustavson, "Recursion leads to automatic variable blocking", 1997).
#pragma once

#include <cmath>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu::linalg {

/// Where halving stops: rows of a triangle, columns of an LU panel.
inline constexpr int64_t kTriangle = 32, kPanel = 16;
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

/// c -= a b, c row-major.
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
  left ? gemm<T>(negated.matrix(), b, c, true) : gemm<T>(a, negated.matrix(), c, true);
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
    gemm<T>(negated.block(i, 0, rows, p.rows), p.block(0, j, p.rows, columns), c.block(i, j, rows, columns), true);
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

/// b = tri^-1 b for a lower or upper triangle (any strides), with ones on its diagonal where `unit`; b is row-major.
template <class T> void solve_triangle(Matrix<const T> tri, bool upper, bool unit, Matrix<T> b) {
  const int64_t n = tri.rows;
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

/// The place of the largest absolute value, the first of several. A NaN does not count, unless x[0] is one: then 0.
template <class T> int64_t largest_at(const T* x, int64_t n) {
  constexpr int64_t N = simd::kLanes<T>;
  T most = std::abs(x[0]);
  int64_t i = 0;
  if (n >= N) {
    simd::Vec<T> lanes = simd::splat<T>(most);
    for (; i + N <= n; i += N) {
      const simd::Vec<T> v = simd::load<T>(x + i), size = v < 0 ? -v : v;
      lanes = simd::larger(size, lanes);
    }
    for (int64_t k = 0; k < N; ++k) most = lanes[k] > most ? lanes[k] : most;
  }
  for (; i < n; ++i) most = std::abs(x[i]) > most ? std::abs(x[i]) : most;
  for (i = 0; i < n; ++i)
    if (std::abs(x[i]) == most) return i;
  return 0;
}

/// LU of a few columns, which lie in `panel` one after the other so that each is a run of memory.
template <class T> void lu_panel(T* panel, int64_t rows, int64_t columns, int32_t* pivots) {
  for (int64_t j = 0; j < std::min(rows, columns); ++j) {
    T* const column = panel + j * rows;
    const int64_t best = j + largest_at(column + j, rows - j);
    pivots[j] = static_cast<int32_t>(best + 1);
    if (best != j)
      for (int64_t k = 0; k < columns; ++k) std::swap(panel[k * rows + j], panel[k * rows + best]);
    if (column[j] == 0) continue;  // and all below it: nothing to eliminate
    for (int64_t i = j + 1; i < rows; ++i) column[i] /= column[j];
    for (int64_t k = j + 1; k < columns; ++k) {
      T* const other = panel + k * rows;
      const T factor = other[j];
      for (int64_t i = j + 1; i < rows; ++i) other[i] -= factor * column[i];
    }
  }
}

/// Row-major `a` becomes its factors, as op::LuFactor says.
template <class T> void lu_in_place(Matrix<T> a, int32_t* pivots) {
  const int64_t n = std::min(a.rows, a.columns);
  if (n == 0) return;
  if (n <= kPanel) {
    const Matrix<T> left = a.block(0, 0, a.rows, n);
    Scratch<T> panel(checked_multiply(a.rows, n));
    copy_matrix_serial<T, T>(left.transposed(), row_major(panel.data(), n, a.rows));
    lu_panel<T>(panel.data(), a.rows, n, pivots);
    copy_matrix_serial<T, T>(row_major(panel.data(), n, a.rows).transposed(), left);
    if (a.columns == n) return;
    const Matrix<T> right = a.block(0, n, a.rows, a.columns - n);
    return for_column_blocks(right.columns, static_cast<double>(n * n), [&](int64_t first, int64_t count) {
      const Matrix<T> block = right.block(0, first, right.rows, count);
      for (int64_t i = 0; i < n; ++i) swap_rows(block, i, pivots[i] - 1);
      solve_triangle<T>(left.block(0, 0, n, n), false, true, block);
    });
  }
  const int64_t h = half(n), rows = a.rows - h, columns = a.columns - h;
  const Matrix<T> left = a.block(0, 0, a.rows, h), right = a.block(0, h, a.rows, columns);
  lu_in_place<T>(left, pivots);
  for_column_blocks(columns, static_cast<double>(a.rows * h), [&](int64_t first, int64_t count) {
    const Matrix<T> block = right.block(0, first, a.rows, count), top = block.block(0, 0, h, count);
    for (int64_t i = 0; i < h; ++i) swap_rows(block, i, pivots[i] - 1);
    solve_triangle<T>(left.block(0, 0, h, h), false, true, top);
  });
  subtract_product<T>(left.block(h, 0, rows, h), right.block(0, 0, h, columns), right.block(h, 0, rows, columns));
  lu_in_place<T>(right.block(h, 0, rows, columns), pivots + h);
  for (int64_t i = h; i < n; ++i) {
    pivots[i] += static_cast<int32_t>(h);
    swap_rows(left, i, pivots[i] - 1);
  }
}

}  // namespace weft::kernels::cpu::linalg

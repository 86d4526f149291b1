// Triangular systems and Cholesky factors of one row-major matrix, in place. Both split the matrix in halves, so that
// nearly all of the work is matrix products (Gustavson, "Recursion leads to automatic variable blocking", 1997).
#pragma once

#include <cmath>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/gemm.h"
#include "tensor/kernels/cpu/gemm/scratch_matrix.h"
#include "tensor/kernels/cpu/linalg/solve_column.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu::linalg {

/// Rows of a triangle that is not split.
inline constexpr int64_t kTriangle = 32;
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
  const ScratchMatrix<T> negated(p.transposed());
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

template <class T> bool has_zero_on_diagonal(Matrix<const T> a) {
  for (int64_t i = 0; i < a.rows; ++i)
    if (a.at(i, i) == 0) return true;
  return false;
}

/// The upper triangle of row-major `a` becomes u with u^T u = a; what is below it is neither read nor kept. Returns 0,
/// or i if the leading i x i matrix of a is the first one that is not positive definite.
template <class T> int64_t cholesky_in_place(Matrix<T> a) {
  const int64_t n = a.rows;
  if (n > kTriangle) {
    const int64_t h = half(n), rest = n - h;
    const Matrix<T> first = a.block(0, 0, h, h), corner = a.block(0, h, h, rest), last = a.block(h, h, rest, rest);
    if (const int64_t failed = cholesky_in_place<T>(first); failed != 0) return failed;
    for_column_blocks(rest, static_cast<double>(h * h / 2), [&](int64_t begin, int64_t count) {
      solve_triangle<T>(first.transposed(), false, false, corner.block(0, begin, h, count));
    });
    subtract_gram<T>(corner, last);
    const int64_t failed = cholesky_in_place<T>(last);
    return failed == 0 ? 0 : h + failed;
  }
  for (int64_t i = 0; i < n; ++i) {
    T* const row = &a.at(i, 0);
    if (!(row[i] > 0) || !std::isfinite(row[i])) return i + 1;
    const T root = std::sqrt(row[i]);
    for (int64_t j = i; j < n; ++j) row[j] /= root;
    for (int64_t k = i + 1; k < n; ++k) {
      T* const below = &a.at(k, 0);
      const T factor = row[k];
      for (int64_t j = k; j < n; ++j) below[j] -= factor * row[j];
    }
  }
  return 0;
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

}  // namespace weft::kernels::cpu::linalg

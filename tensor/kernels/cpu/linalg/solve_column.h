// A triangular system of one right side: there are no columns to fill registers with, so they hold rows.
#pragma once

#include <algorithm>
#include <type_traits>

#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu::linalg {

/// Whether solve_column() takes a triangle: rows or columns are contiguous. In larger ones the work is that of
/// products, which several threads share.
template <class T> bool is_column_system(const Matrix<const T>& tri) {
  constexpr int64_t kLargest = 256;
  return tri.rows <= kLargest && (tri.column_stride == 1 || tri.row_stride == 1);
}

/// out -= a x, a few rows at a time; columns fill whole registers.
template <class T> void subtract_by_rows(const Matrix<const T>& a, const T* x, T* out) {
  constexpr int N = simd::kLanes<T>, kRows = 4;
  const auto some = [&]<int kCount>(int64_t i) {
    simd::Vec<T> sums[kCount] = {};
    const T* const row = a.data + i * a.row_stride;
    for (int64_t k = 0; k < a.columns; k += N)
      for (int r = 0; r < kCount; ++r) sums[r] += simd::load<T>(row + r * a.row_stride + k) * simd::load<T>(x + k);
    for (int r = 0; r < kCount; ++r) out[i + r] -= simd::fold_lanes<Add, T, N>(sums[r]);
  };
  int64_t i = 0;
  for (; i + kRows <= a.rows; i += kRows) some.template operator()<kRows>(i);
  for (; i < a.rows; ++i) some.template operator()<1>(i);
}

/// The same for contiguous columns, a few at a time.
template <class T> void subtract_by_columns(const Matrix<const T>& a, const T* x, T* out) {
  constexpr int N = simd::kLanes<T>, kColumns = 4;
  const auto some = [&]<int kCount>(int64_t k) {
    const T* const column = a.data + k * a.column_stride;
    for (int64_t i = 0; i < a.rows; i += N) {
      const int count = static_cast<int>(std::min<int64_t>(N, a.rows - i));
      simd::Vec<T> value = simd::load_part<T>(out + i, count);
      for (int c = 0; c < kCount; ++c) value -= x[k + c] * simd::load_part<T>(column + c * a.column_stride + i, count);
      simd::store_part<T>(out + i, value, count);
    }
  };
  int64_t k = 0;
  for (; k + kColumns <= a.columns; k += kColumns) some.template operator()<kColumns>(k);
  for (; k < a.columns; ++k) some.template operator()<1>(k);
}

/// A block of a triangle on its diagonal, and its part of x.
template <class T> class DiagonalBlock {
  static constexpr int N = simd::kLanes<T>;

 public:
  static constexpr int64_t kSize = 32;

  /// x = tri^-1 x, column by column, for up to kSize rows.
  void solve(const Matrix<const T>& tri, bool upper, bool unit, T* x) {
    const int64_t n = tri.rows;
    copy_matrix_serial<T, T>(tri.transposed(), {columns_, n, n, kSize, 1});
    std::copy_n(x, n, x_);
    simd::Vec<Lane, N> lane{};
    for (int l = 0; l < N; ++l) lane[l] = static_cast<Lane>(l);
    for (int64_t step = 0; step < n; ++step) {
      const int64_t k = upper ? n - 1 - step : step;
      const T* const column = columns_ + k * kSize;
      const T known = unit ? x_[k] : x_[k] / column[k];
      const int64_t begin = upper ? 0 : k / N * N, end = upper ? k + 1 : n;
      for (int64_t i = begin; i < end; i += N) {
        const auto at = lane + static_cast<Lane>(i);
        const auto open = upper ? at < static_cast<Lane>(k) : at > static_cast<Lane>(k);  // rows to be solved yet
        auto value = simd::load<T>(x_ + i);
        value = open ? value - known * simd::load<T>(column + i) : value;
        // Only whole registers are stored: a load that finds a part of what it reads in a store not yet done waits.
        simd::store<T>(x_ + i, at == static_cast<Lane>(k) ? simd::splat<T>(known) : value);
      }
    }
    std::copy_n(x_, n, x);
  }

 private:
  using Lane = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  alignas(64) T columns_[kSize * kSize] = {};
  alignas(64) T x_[kSize] = {};
};

/// x = tri^-1 x, in blocks: what is known of x is subtracted from a block's rows before it is solved, or from all the
/// others after it, as the triangle lies in memory.
template <class T> void solve_column(const Matrix<const T>& tri, bool upper, bool unit, T* x) {
  constexpr int64_t kSize = DiagonalBlock<T>::kSize;
  static_assert(kSize % simd::kLanes<T> == 0);  // for subtract_by_rows()
  DiagonalBlock<T> block;
  const int64_t n = tri.rows;
  for (int64_t done = 0; done < n; done += kSize) {
    const int64_t count = std::min(kSize, n - done), first = upper ? n - done - count : done;
    const int64_t known = upper ? first + count : 0;
    if (tri.column_stride == 1 && done > 0)
      subtract_by_rows<T>(tri.block(first, known, count, done), x + known, x + first);
    block.solve(tri.block(first, first, count, count), upper, unit, x + first);
    const int64_t open = upper ? 0 : first + count;
    if (tri.column_stride != 1 && done + count < n)
      subtract_by_columns<T>(tri.block(open, first, n - done - count, count), x + first, x + open);
  }
}

}  // namespace weft::kernels::cpu::linalg

// Products with one or two columns, where a product by tiles would use as many lanes of each register. dot_rows: the
// elements of each row are neighbours in memory, as the column's are, so that each result is a dot product along the
// registers. sum_columns: the elements of each column of the matrix are neighbours, and registers hold all sums.
#pragma once

#include <algorithm>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/loop_gemm.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

namespace detail {
/// Registers in which each row has `Width` lanes: those of v and then those of w with half as many, the halves added.
template <int Width, class V, int... I> WEFT_SIMD V halve(V v, V w, std::integer_sequence<int, I...>) {
  constexpr int kHalf = Width / 2;
  return __builtin_shufflevector(v, w, (I / kHalf * Width + I % kHalf)...) +
         __builtin_shufflevector(v, w, (I / kHalf * Width + I % kHalf + kHalf)...);
}

/// The sums of the lanes of each of kRows registers, in the first lanes of the first: rows share a register as soon as
/// they fit one, which takes a third of the instructions that folding each would.
template <class T, int kRows, int Width = simd::kLanes<T>> WEFT_SIMD void fold_rows(simd::Vec<T>* rows) {
  if constexpr (Width > 1) {
    constexpr auto kLaneNumbers = std::make_integer_sequence<int, simd::kLanes<T>>{};
#pragma GCC unroll 8
    for (int i = 0; i < (kRows + 1) / 2; ++i)
      rows[i] = halve<Width>(rows[2 * i], rows[kRows > 1 ? 2 * i + 1 : 2 * i], kLaneNumbers);
    fold_rows<T, (kRows + 1) / 2, Width / 2>(rows);
  }
}
}  // namespace detail

/// Elements by which lines are asked for early: short rows and columns reach the rate of memory only so.
template <class T> inline constexpr int64_t kPrefetchElements = 4096 / sizeof(T);

/// Rows at a time: two sums for each must fit the registers.
inline constexpr int kDotRows = simd::kVectorBytes == 64 ? 8 : 4;

/// The dot products of kRows (a power of two) rows, `stride` apart, with b, to (or added to) c. Two registers for each:
/// two sums that do not wait for each other, added at last.
template <class T, int kRows>
inline void dot_block(const T* a, int64_t stride, const T* b, int64_t length, T* c, int64_t c_stride, bool accumulate) {
  constexpr int N = simd::kLanes<T>;
  simd::Vec<T> even[kRows] = {}, odd[kRows] = {};
  int64_t k = 0;
  for (; k + 2 * N <= length; k += 2 * N) {
    const simd::Vec<T> first = simd::load<T>(b + k), second = simd::load<T>(b + k + N);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      even[r] += simd::load<T>(a + r * stride + k) * first;
      odd[r] += simd::load<T>(a + r * stride + k + N) * second;
    }
  }
  for (; k < length; k += N) {
    const auto count = static_cast<int>(std::min<int64_t>(N, length - k));
    const simd::Vec<T> first = simd::load_part<T>(b + k, count);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) even[r] += simd::load_part<T>(a + r * stride + k, count) * first;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) even[r] += odd[r];
  detail::fold_rows<T, kRows>(even);
  T sums[N];
  simd::store<T>(sums, even[0]);
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) c[r * c_stride] = accumulate ? c[r * c_stride] + sums[r] : sums[r];
}

/// The dot products of N rows (a register's lanes, `stride` apart) of kVectors registers, the last with `last`
/// elements, with b. One sum for each.
template <class T, int kVectors>
inline void short_dots(const T* a, int64_t stride, const T* b, int last, T* c, int64_t c_stride, bool accumulate) {
  constexpr int N = simd::kLanes<T>, kBefore = (kVectors - 1) * N;
  static_assert(kVectors <= 2);
  const simd::Vec<T> end = simd::load_part<T>(b + kBefore, last);
  simd::Vec<T> rows[N];
#pragma GCC unroll 16
  for (int r = 0; r < N; ++r) {
    __builtin_prefetch(a + r * stride + kPrefetchElements<T>);
    rows[r] = simd::load_part<T>(a + r * stride + kBefore, last) * end;
  }
  if constexpr (kVectors == 2) {
    const simd::Vec<T> start = simd::load<T>(b);
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r) rows[r] += simd::load<T>(a + r * stride) * start;
  }
  detail::fold_rows<T, N>(rows);
  put_part<T, N>(rows[0], c, c_stride, N, accumulate);
}

/// Elements of a sum: threads should share a longer one.
inline constexpr int64_t kLongestDot = 1 << 16;

/// Whether a b is such a product: of one column, or of two, which very short rows do not pay for.
template <class T> bool is_dots(const Matrix<const T>& a, const Matrix<const T>& b) {
  const int64_t shortest = b.columns == 1 ? 2 : 6;
  return b.columns <= 2 && a.column_stride == 1 && b.row_stride == 1 && a.columns >= shortest &&
         a.columns <= kLongestDot;
}

/// Rows [begin, end) of c = a b (+ c) for one column b.
template <class T>
void dot_range(const Matrix<const T>& a, const T* b, const Matrix<T>& c, bool accumulate, int64_t begin, int64_t end) {
  constexpr int N = simd::kLanes<T>;
  const auto last = static_cast<int>((a.columns - 1) % N + 1);
  int64_t i = begin;
  for (; a.columns <= 2 * N && i + N <= end; i += N)
    (a.columns <= N ? short_dots<T, 1> : short_dots<T, 2>)(&a.at(i, 0), a.row_stride, b, last, &c.at(i, 0),
                                                           c.row_stride, accumulate);
  for (; i + kDotRows <= end; i += kDotRows)
    dot_block<T, kDotRows>(&a.at(i, 0), a.row_stride, b, a.columns, &c.at(i, 0), c.row_stride, accumulate);
  for (; i < end; ++i) dot_block<T, 1>(&a.at(i, 0), a.row_stride, b, a.columns, &c.at(i, 0), c.row_stride, accumulate);
}

/// c = a b (+ c) for a product that is_dots(). No size is 0.
template <class T>
void dot_rows(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  constexpr int N = simd::kLanes<T>;
  constexpr int64_t kGrain = 1 << 17;                                    // multiplications
  const int64_t row = std::max<int64_t>(a.columns, N / 2) * b.columns;   // short rows take no less time
  const int64_t together = N * std::max<int64_t>(1, (1 << 12) / (row));  // rows that stay in the L1 cache
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += together)
      for (int64_t j = 0; j < b.columns; ++j)
        dot_range<T>(a, &b.at(0, j), c.block(0, j, c.rows, 1), accumulate, i, std::min(i + together, end));
  };
  if (a.rows * row <= kGrain) return run(0, a.rows);
  parallel_for(a.rows, N * ceil_div(kGrain, N * row), run);
}

/// c = a b (+ c) for kColumns columns and a of kVectors registers of rows, the last with `last` of them: each column of
/// a times its element of b is added to registers, of which several sets do not wait for each other.
template <class T, int kVectors, int kColumns>
inline void sum_columns(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, int last,
                        bool accumulate) {
  constexpr int N = simd::kLanes<T>, kSums = std::max(1, std::min(4, 8 / (kVectors * kColumns)));
  simd::Vec<T> sums[kSums][kColumns][kVectors] = {};
  const auto add = [&](simd::Vec<T>(*sum)[kVectors], int64_t k) __attribute__((always_inline)) {
    const T* column = a.data + k * a.column_stride;
    __builtin_prefetch(column + kPrefetchElements<T>);
#pragma GCC unroll 2
    for (int j = 0; j < kColumns; ++j) {
      const simd::Vec<T> factor = simd::splat<T>(b.data[k * b.row_stride + j * b.column_stride]);
#pragma GCC unroll 4
      for (int v = 0; v + 1 < kVectors; ++v) sum[j][v] += simd::load<T>(column + v * N) * factor;
      sum[j][kVectors - 1] += simd::load_part<T>(column + (kVectors - 1) * N, last) * factor;
    }
  };
  int64_t k = 0;
  for (; k + kSums <= a.columns; k += kSums) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) add(sums[s], k + s);
  }
  for (; k < a.columns; ++k) add(sums[0], k);
#pragma GCC unroll 2
  for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
#pragma GCC unroll 4
      for (int s = 1; s < kSums; ++s) sums[0][j][v] += sums[s][j][v];
      put_part<T, N>(sums[0][j][v], &c.at(v * N, j), c.row_stride, v + 1 < kVectors ? N : last, accumulate);
    }
}

/// c = a b (+ c) for one or two columns b, where it is a product that these kernels take. False where it is none:
/// nothing was done. No size is 0.
template <class T>
bool narrow_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  constexpr int N = simd::kLanes<T>;
  if (is_dots(a, b)) return dot_rows<T>(a, b, c, accumulate), true;
  if (b.columns > 2 || a.row_stride != 1 || a.rows < 2 || a.rows > 4 * N || a.columns > kLongestDot) return false;
  const int vectors = static_cast<int>(ceil_div(a.rows, int64_t{N}));
  const int last = static_cast<int>(a.rows) - (vectors - 1) * N;
  const auto run = [&]<int kVectors>() {
    (b.columns == 1 ? sum_columns<T, kVectors, 1> : sum_columns<T, kVectors, 2>)(a, b, c, last, accumulate);
    return true;
  };
  switch (vectors) {
    case 1: return run.template operator()<1>();
    case 2: return run.template operator()<2>();
    case 3: return run.template operator()<3>();
    default: return run.template operator()<4>();
  }
}

}  // namespace weft::kernels::cpu

// Products with one or two columns, where a product by tiles would use as many lanes of each register, and those of
// few_columns.h. dot_rows: the elements of each row are contiguous, as the column's are, so that each result is a dot
// product along the registers. sum_columns and add_columns: the elements of each column of the matrix are contiguous;
// registers hold all sums of few rows, and memory those of many. bf16 and f16 are multiplied and summed in f32, and
// rounded once.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/few_columns.h"
#include "tensor/kernels/cpu/gemm/fold_registers.h"
#include "tensor/kernels/cpu/gemm/put_part.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// How many elements ahead are prefetched: short rows and columns reach the rate of memory only so.
template <class T> inline constexpr int64_t kPrefetchElements = 4096 / sizeof(T);

/// Rows at a time: two sums for each must fit the registers.
inline constexpr int kDotRows = simd::kVectorBytes == 64 ? 8 : 4;

/// The dot products of kRows (a power of two) rows, `stride` apart, with b, to `out`. Two registers for each: two sums
/// that do not wait for each other, added at last.
template <class T, int kRows, class C = Compute<T>>
WEFT_SIMD void dot_block(const T* a, int64_t stride, const T* b, int64_t length, C* out) {
  constexpr int N = simd::kLanes<C>;
  simd::Vec<C> even[kRows] = {}, odd[kRows] = {};
  int64_t k = 0;
  for (; k + 2 * N <= length; k += 2 * N) {
    const simd::Vec<C> first = simd::load<C>(b + k), second = simd::load<C>(b + k + N);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      even[r] += simd::load<C>(a + r * stride + k) * first;
      odd[r] += simd::load<C>(a + r * stride + k + N) * second;
    }
  }
  for (; k < length; k += N) {
    const auto count = static_cast<int>(std::min<int64_t>(N, length - k));
    const simd::Vec<C> first = simd::load_part<C>(b + k, count);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) even[r] += simd::load_part<C>(a + r * stride + k, count) * first;
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) even[r] += odd[r];
  fold_registers<C, kRows>(even);
  simd::store_part<C>(out, even[0], kRows);
}

/// The dot products of N rows (a register's lanes, `stride` apart) of kVectors registers, the last with `last`
/// elements, with b. One sum for each.
template <class T, int kVectors, class C = Compute<T>>
WEFT_SIMD void short_dots(const T* a, int64_t stride, const T* b, int last, C* out) {
  constexpr int N = simd::kLanes<C>, kBefore = (kVectors - 1) * N;
  static_assert(kVectors <= 2);
  const simd::Vec<C> end = simd::load_part<C>(b + kBefore, last);
  simd::Vec<C> rows[N];
#pragma GCC unroll 16
  for (int r = 0; r < N; ++r) {
    __builtin_prefetch(a + r * stride + kPrefetchElements<T>);
    rows[r] = simd::load_part<C>(a + r * stride + kBefore, last) * end;
  }
  if constexpr (kVectors == 2) {
    const simd::Vec<C> start = simd::load<C>(b);
#pragma GCC unroll 16
    for (int r = 0; r < N; ++r) rows[r] += simd::load<C>(a + r * stride) * start;
  }
  fold_registers<C, N>(rows);
  simd::store<C>(out, rows[0]);
}

/// Whether a b is such a product: of one column, or of two, which very short rows do not pay for.
template <class T> bool is_dots(const Matrix<const T>& a, const Matrix<const T>& b) {
  const int64_t shortest = b.columns == 1 ? 2 : 6;
  return b.columns <= 2 && a.column_stride == 1 && b.row_stride == 1 && a.columns >= shortest &&
         a.columns <= kLongestDot;
}

/// Whether the dot products of a's rows with b's columns, or of b's columns with a's rows, are narrow_product()'s.
template <class T> bool is_narrow_dots(const Matrix<const T>& a, const Matrix<const T>& b) {
  const auto is_either = [](const auto& x, const auto& y) { return is_dots<T>(x, y) || is_few_columns<T>(x, y); };
  return is_either(a, b) || is_either(b.transposed(), a.transposed());
}

/// The dot products of a's rows with b.
template <class T, class C = Compute<T>> [[gnu::noinline]] void dots(const Matrix<const T>& a, const T* b, C* out) {
  constexpr int N = simd::kLanes<C>;
  const auto last = static_cast<int>((a.columns - 1) % N + 1);
  int64_t i = 0;
  for (; a.columns <= 2 * N && i + N <= a.rows; i += N)
    (a.columns <= N ? short_dots<T, 1> : short_dots<T, 2>)(&a.at(i, 0), a.row_stride, b, last, out + i);
  for (; i + kDotRows <= a.rows; i += kDotRows)
    dot_block<T, kDotRows>(&a.at(i, 0), a.row_stride, b, a.columns, out + i);
  for (; i < a.rows; ++i) dot_block<T, 1>(&a.at(i, 0), a.row_stride, b, a.columns, out + i);
}

/// Rows [begin, end) of c = a b (+ c) for one column b.
template <class T, class Out>
void dot_range(const Matrix<const T>& a, const T* b, const Matrix<Out>& c, bool accumulate, int64_t begin,
               int64_t end) {
  constexpr int64_t kTogether = 64;  // rows
  alignas(64) Compute<T> sums[kTogether];
  for (int64_t i = begin; i < end; i += kTogether) {
    const int64_t rows = std::min(kTogether, end - i);
    const Matrix<const T> block = a.block(i, 0, rows, a.columns);
    if constexpr (std::is_same_v<Out, Compute<T>>)
      if (c.row_stride == 1 && !accumulate) {
        dots<T>(block, b, &c.at(i, 0));
        continue;
      }
    dots<T>(block, b, sums);
    put_rows(sums, kTogether, c.block(i, 0, rows, 1).transposed(), accumulate);
  }
}

/// c = a b (+ c) for a product that is_dots(). No size is 0.
template <class T, class Out>
void dot_rows(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<Out>& c, bool accumulate) {
  constexpr int N = simd::kLanes<Compute<T>>;
  constexpr int64_t kGrain = 1 << 17;                                    // multiplications
  const int64_t row = std::max<int64_t>(a.columns, N / 2) * b.columns;   // short rows take no less time
  const int64_t together = N * std::max<int64_t>(1, (1 << 12) / (row));  // rows that stay in the L1 cache
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += together)
      for (int64_t j = 0; j < b.columns; ++j)
        dot_range<T, Out>(a, &b.at(0, j), c.block(0, j, c.rows, 1), accumulate, i, std::min(i + together, end));
  };
  if (a.rows * row <= kGrain) return run(0, a.rows);
  // In groups of N rows: the rows left over are summed in another order, and must be the same ones for any number of
  // threads.
  parallel_for(ceil_div(a.rows, int64_t{N}), ceil_div(kGrain, N * row),
               [&](int64_t begin, int64_t end) { run(begin * N, std::min(end * N, a.rows)); });
}

/// a b for kColumns columns and a of kVectors registers of rows, the last with `last` of them, to `out`, one column
/// after the other: each column of a times its element of b is added to registers, of which several sets do not wait
/// for each other.
template <class T, int kVectors, int kColumns, class C = Compute<T>>
inline void sum_columns(const Matrix<const T>& a, const Matrix<const T>& b, int last, C* out) {
  constexpr int N = simd::kLanes<C>, kSums = std::max(1, std::min(4, 8 / (kVectors * kColumns)));
  simd::Vec<C> sums[kSums][kColumns][kVectors] = {};
  const auto add = [&](simd::Vec<C>(*sum)[kVectors], int64_t k) __attribute__((always_inline)) {
    const T* column = a.data + k * a.column_stride;
    __builtin_prefetch(column + kPrefetchElements<T>);
    simd::Vec<C> factor[kColumns];
    for (int j = 0; j < kColumns; ++j)
      factor[j] = simd::splat<C>(static_cast<C>(b.data[k * b.row_stride + j * b.column_stride]));
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      const auto values = v + 1 < kVectors ? simd::load<C>(column + v * N) : simd::load_part<C>(column + v * N, last);
      for (int j = 0; j < kColumns; ++j) sum[j][v] += values * factor[j];
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
      simd::store<C>(out + (j * kVectors + v) * N, sums[0][j][v]);
    }
}

/// Rows [begin, end) of c = a b (+ c) for one column b: each element of b times its column of a, eight at a time, is
/// added to c in memory. c's row stride is 1.
template <class T>
void add_columns(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate, int64_t begin,
                 int64_t end) {
  constexpr int N = simd::kLanes<T>;
  constexpr int64_t kRows = 16384 / sizeof(T);  // half of the L1 cache
  const auto add = [&]<int kColumns>(int64_t first, int64_t rows, int64_t k, bool adds) {
    simd::Vec<T> factor[kColumns];
    for (int s = 0; s < kColumns; ++s) factor[s] = simd::splat<T>(b.data[(k + s) * b.row_stride]);
    for (int64_t i = first; i < first + rows; i += N) {
      const auto count = static_cast<int>(std::min<int64_t>(N, first + rows - i));
      simd::Vec<T> sum = adds ? simd::load_part<T>(c.data + i, count) : simd::Vec<T>{};
#pragma GCC unroll 8
      for (int s = 0; s < kColumns; ++s)
        sum += simd::load_part<T>(a.data + (k + s) * a.column_stride + i, count) * factor[s];
      simd::store_part<T>(c.data + i, sum, count);
    }
  };
  for (int64_t first = begin; first < end; first += kRows) {
    const int64_t rows = std::min(kRows, end - first);
    int64_t k = 0;
    for (; k + 8 <= a.columns; k += 8) add.template operator()<8>(first, rows, k, accumulate || k > 0);
    for (; k < a.columns; ++k) add.template operator()<1>(first, rows, k, accumulate || k > 0);
  }
}

/// narrow_product() of few columns b.
template <class T, class Out>
bool product_of_columns(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<Out>& c, bool accumulate) {
  using C = Compute<T>;
  constexpr int N = simd::kLanes<C>;
  if (is_few_columns(a, b)) return few_columns_product<T, Out>(a, b, c, accumulate), true;
  if (is_dots(a, b)) return dot_rows<T, Out>(a, b, c, accumulate), true;
  if (b.columns > 2 || a.row_stride != 1 || a.rows < 2 || a.columns > kLongestDot) return false;
  if (a.rows > 4 * N) {
    if constexpr (std::is_same_v<T, double> && std::is_same_v<Out, double>) {   // f32 has sgemm, as fast
      if (b.columns != 1 || c.row_stride != 1 || a.columns < 64) return false;  // short sums: the packed product
      parallel_for(a.rows, ceil_div(int64_t{1} << 17, a.columns * N) * N,
                   [&](int64_t begin, int64_t end) { add_columns<T>(a, b, c, accumulate, begin, end); });
      return true;
    }
    return false;
  }
  const int vectors = static_cast<int>(ceil_div(a.rows, int64_t{N}));
  const int last = static_cast<int>(a.rows) - (vectors - 1) * N;
  alignas(64) C sums[2 * 4 * N];
  const auto run = [&]<int kVectors>() {
    (b.columns == 1 ? sum_columns<T, kVectors, 1> : sum_columns<T, kVectors, 2>)(a, b, last, sums);
  };
  switch (vectors) {
    case 1: run.template operator()<1>(); break;
    case 2: run.template operator()<2>(); break;
    case 3: run.template operator()<3>(); break;
    default: run.template operator()<4>();
  }
  put_rows(sums, vectors * N, c.transposed(), accumulate);
  return true;
}

/// c = a b (+ c) for few columns b, or rows a, where it is a product that these kernels take. False where it is
/// none: nothing was done. No size is 0.
template <class T, class Out>
bool narrow_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<Out>& c, bool accumulate) {
  if (product_of_columns<T, Out>(a, b, c, accumulate)) return true;
  return a.rows <= kMostFewColumns &&
         product_of_columns<T, Out>(b.transposed(), a.transposed(), c.transposed(), accumulate);
}

}  // namespace weft::kernels::cpu

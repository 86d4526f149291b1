// dot_rows: a matrix times a vector where the elements of each row are neighbours in memory, as the vector's are: each
// result is a dot product along the registers. (A product by tiles has one lane of each register to do there.)
#pragma once

#include <algorithm>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/simd.h"
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

/// Whether a b is such a product: one column, or one row of the transposed one. A sum so long that threads should share
/// it is none.
template <class T> bool is_dots(const Matrix<const T>& a, const Matrix<const T>& b) {
  constexpr int64_t kShortest = 2, kLongest = 1 << 16;
  return b.columns == 1 && a.column_stride == 1 && b.row_stride == 1 && a.columns >= kShortest && a.columns <= kLongest;
}

/// c = a b (+ c) for a product that is_dots(): one column. No size is 0.
template <class T>
void dot_rows(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate) {
  constexpr int64_t kGrain = 1 << 17;  // multiplications
  const auto run = [&](int64_t begin, int64_t end) {
    int64_t i = begin;
    for (; i + kDotRows <= end; i += kDotRows)
      dot_block<T, kDotRows>(&a.at(i, 0), a.row_stride, b.data, a.columns, &c.at(i, 0), c.row_stride, accumulate);
    for (; i < end; ++i)
      dot_block<T, 1>(&a.at(i, 0), a.row_stride, b.data, a.columns, &c.at(i, 0), c.row_stride, accumulate);
  };
  if (a.rows * a.columns <= kGrain) return run(0, a.rows);
  parallel_for(a.rows, kDotRows * ceil_div(kGrain, kDotRows * a.columns), run);
}

}  // namespace weft::kernels::cpu

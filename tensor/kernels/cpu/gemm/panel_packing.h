// Packing the right side of a product into panels as wide as a tile, each read from front to back. What is stored in
// halves is widened on the way.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/base/transpose.h"

namespace weft::kernels::cpu {

/// How many rows ahead packing prefetches: the hardware prefetcher does not follow steps of a page. Few, because rows a
/// power of two apart map to few sets of the L1 cache.
inline constexpr int64_t kPrefetchRows = 4;

/// b's columns contiguous, with zeros up to a full register: row k at out + k * width.
template <class T, class S> void pack_rows(const Matrix<const S>& b, T* out, int64_t width) {
  constexpr int N = simd::kLanes<T>;
  for (int64_t k = 0; k < b.rows; ++k, out += width) {
    const S* in = b.data + k * b.row_stride;
    int64_t j = 0;
    for (; j + N <= b.columns; j += N) __builtin_prefetch(in + j + kPrefetchRows * b.row_stride);
    j = 0;
    for (; j + N <= b.columns; j += N) simd::store<T, N>(out + j, simd::load<T, N>(in + j));
    if (j < b.columns) simd::store<T, N>(out + j, simd::load_part<T, N>(in + j, static_cast<int>(b.columns - j)));
  }
}

/// b's columns as `count` panels of `width`, full registers each, one behind the other. A row of them is read at once:
/// of a narrow panel it is a line, and the next one a page away.
template <class T, class S> void pack_row_panels(const Matrix<const S>& b, T* out, int64_t width, int64_t count) {
  constexpr int N = simd::kLanes<T>;
  constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(S));
  for (int64_t k = 0; k < b.rows; ++k, out += width) {
    const S* in = b.data + k * b.row_stride;
    for (int64_t j = 0; j < width * count; j += kLine) __builtin_prefetch(in + j + kPrefetchRows * b.row_stride);
    for (int64_t p = 0; p < count; ++p, in += width)
      for (int64_t j = 0; j < width; j += N) simd::store<T, N>(out + p * b.rows * width + j, simd::load<T, N>(in + j));
  }
}

/// As pack_rows where b's row stride is 1.
template <class T, class S> void pack_columns(const Matrix<const S>& b, T* out, int64_t width) {
  constexpr int N = simd::kLanes<T>;
  for (int64_t j = 0; j < b.columns; j += N) {
    const auto columns = static_cast<int>(std::min<int64_t>(N, b.columns - j));
    for (int64_t k = 0; k < b.rows; k += N) {
      const auto depth = static_cast<int>(std::min<int64_t>(N, b.rows - k));
      const S* in = b.data + k + j * b.column_stride;
      T* to = out + k * width + j;
      simd::Vec<T, N> block[N];
      if (columns == N && depth == N) {
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) block[i] = simd::load<T, N>(in + i * b.column_stride);
      } else {
        for (int i = 0; i < N; ++i)
          block[i] = i < columns ? simd::load_part<T, N>(in + i * b.column_stride, depth) : simd::Vec<T, N>{};
      }
      simd::transpose<T>(block);
      if (depth == N) {
#pragma GCC unroll 16
        for (int i = 0; i < N; ++i) simd::store<T, N>(to + i * width, block[i]);
      } else {
        for (int i = 0; i < depth; ++i) simd::store<T, N>(to + i * width, block[i]);
      }
    }
  }
}

/// Whichever b's strides ask for.
template <class T, class S> void pack_panel(const Matrix<const S>& b, T* out, int64_t width) {
  b.column_stride == 1 ? pack_rows<T, S>(b, out, width) : pack_columns<T, S>(b, out, width);
}

}  // namespace weft::kernels::cpu

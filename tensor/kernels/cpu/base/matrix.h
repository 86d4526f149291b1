// Matrix: a two-dimensional piece of memory with any strides, and copies between such pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Element (i, j) lies at data[i * row_stride + j * column_stride].
template <class T> struct Matrix {
  T* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;

  T& at(int64_t i, int64_t j) const {
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): not called for an empty matrix
    return data[i * row_stride + j * column_stride];
  }
  Matrix transposed() const { return {data, columns, rows, column_stride, row_stride}; }
  Matrix block(int64_t i, int64_t j, int64_t block_rows, int64_t block_columns) const {
    // No reference: an empty matrix has no element to refer to.
    return {data + i * row_stride + j * column_stride, block_rows, block_columns, row_stride, column_stride};
  }
  operator Matrix<const T>() const { return {data, rows, columns, row_stride, column_stride}; }
};

/// How many multiplications the product a b takes; a double, as an int64_t could overflow.
template <class T> double multiplications(const Matrix<T>& a, const Matrix<T>& b) {
  return static_cast<double>(a.rows) * static_cast<double>(a.columns) * static_cast<double>(b.columns);
}

/// Threads for the product a b: one of less than a million multiplications is done sooner than a second thread has
/// begun.
template <class T> int product_threads(const Matrix<T>& a, const Matrix<T>& b) {
  return multiplications(a, b) < 1 << 20 ? 1 : region_threads();
}

/// `rows` rows of `columns` contiguous elements.
template <class T> Matrix<T> row_major(T* data, int64_t rows, int64_t columns) {
  return {data, rows, columns, columns, 1};
}

inline constexpr int64_t kCopyTile = 32;

/// One tile of copy_matrix from a row stride of 1 to a column stride of 1: through registers or a buffer, since rows a
/// power of two apart map to few sets of the L1 cache.
template <class From, class To> void transpose_tile(Matrix<const From> from, Matrix<To> to) {
  if constexpr (std::is_same_v<From, To> && std::is_floating_point_v<To>)
    if (from.row_stride == 1 && to.column_stride == 1)
      return simd::transpose_copy(from.data, from.column_stride, to.data, to.row_stride, to.columns, to.rows);
  To buffer[kCopyTile * kCopyTile];
  for (int64_t j = 0; j < to.columns; ++j)
    for (int64_t i = 0; i < to.rows; ++i)
      buffer[i * kCopyTile + j] = static_cast<To>(from.data[i * from.row_stride + j * from.column_stride]);
  for (int64_t i = 0; i < to.rows; ++i)
    for (int64_t j = 0; j < to.columns; ++j)
      to.data[i * to.row_stride + j * to.column_stride] = buffer[i * kCopyTile + j];
}

/// to = from, converted; equal sizes, any strides. Tiled so that a transposition stays in the cache.
template <class From, class To> void copy_matrix_serial(Matrix<const From> from, Matrix<To> to) {
  if (to.row_stride == 1 && to.column_stride != 1) from = from.transposed(), to = to.transposed();
  if (from.column_stride == 1 && from.row_stride == to.columns && to.column_stride == 1 && to.row_stride == to.columns)
    return copy_run(from.data, to.data, to.rows * to.columns);
  if (from.column_stride == 1 || from.column_stride < from.row_stride) {  // both are read in order
    for (int64_t i = 0; i < to.rows; ++i) {
      const From* in = from.data + i * from.row_stride;
      To* out = to.data + i * to.row_stride;
      if (from.column_stride == 1 && to.column_stride == 1)
        copy_run(in, out, to.columns);
      else
        for (int64_t j = 0; j < to.columns; ++j)
          // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): an empty matrix, which has no memory, has no columns
          out[j * to.column_stride] = static_cast<To>(in[j * from.column_stride]);
    }
    return;
  }
  if constexpr (std::is_same_v<From, To> && std::is_floating_point_v<To>)
    if (from.row_stride == 1 && to.column_stride == 1 &&
        simd::copy_interleaved(from.data, from.column_stride, to.data, to.row_stride, to.columns, to.rows))
      return;
  for (int64_t i = 0; i < to.rows; i += kCopyTile)
    for (int64_t j = 0; j < to.columns; j += kCopyTile) {
      const int64_t rows = std::min(kCopyTile, to.rows - i), columns = std::min(kCopyTile, to.columns - j);
      transpose_tile<From, To>(from.block(i, j, rows, columns), to.block(i, j, rows, columns));
    }
}

/// The same with threads.
template <class From, class To> void copy_matrix(Matrix<const From> from, Matrix<To> to) {
  if (to.rows == 0 || to.columns == 0) return;
  if (to.rows < to.columns) return copy_matrix<From, To>(from.transposed(), to.transposed());
  const int64_t grain = std::max<int64_t>(32, 32768 / to.columns);
  parallel_for(to.rows, grain, [&](int64_t begin, int64_t end) {
    copy_matrix_serial<From, To>(from.block(begin, 0, end - begin, to.columns),
                                 to.block(begin, 0, end - begin, to.columns));
  });
}

}  // namespace weft::kernels::cpu

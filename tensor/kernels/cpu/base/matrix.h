// Matrix: a two-dimensional piece of memory with any strides, and copies between such pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tensor/kernels/cpu/base/convert.h"
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

/// A matrix of numbers as one of others of the same size.
template <class To, class From> Matrix<To> as_elements(const Matrix<From>& m) {
  return {reinterpret_cast<To*>(m.data), m.rows, m.columns, m.row_stride, m.column_stride};
}

namespace detail {
/// copy_matrix_serial() and copy_matrix() of words of one size, or from one floating type to another.
template <class From, class To> void copy_elements(Matrix<const From> from, Matrix<To> to);
template <class From, class To> void copy_elements_on_threads(Matrix<const From> from, Matrix<To> to);
}  // namespace detail

/// to = from, converted; equal sizes, any strides. Tiled so that a transposition stays in the cache. The loops are
/// compiled in matrix.cc: for words of each size (copies without conversion), and for conversions between floats.
template <class From, class To> void copy_matrix_serial(Matrix<const From> from, Matrix<To> to) {
  using Word = WordOf<To>;
  if constexpr (std::is_same_v<From, To>)
    detail::copy_elements<Word, Word>(as_elements<const Word>(from), as_elements<Word>(to));
  else
    detail::copy_elements<From, To>(from, to);
}

/// The same with threads.
template <class From, class To> void copy_matrix(Matrix<const From> from, Matrix<To> to) {
  using Word = WordOf<To>;
  if constexpr (std::is_same_v<From, To>)
    detail::copy_elements_on_threads<Word, Word>(as_elements<const Word>(from), as_elements<Word>(to));
  else
    detail::copy_elements_on_threads<From, To>(from, to);
}

}  // namespace weft::kernels::cpu

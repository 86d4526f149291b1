// few_columns_product: dot products of the rows of a large matrix with a few columns, as those of a weight with a small
// batch: each row is read from memory once for all of them.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/matrix.h"

namespace weft::kernels::cpu {

/// The most columns for which that is ever faster than a product by tiles.
inline constexpr int64_t kMostFewColumns = 24;

/// The most terms of a dot product: threads should share a longer sum.
inline constexpr int64_t kLongestDot = 1 << 16;

/// c = a b (+ c). The elements of a's rows and of b's columns are contiguous; any number of columns, no size is 0.
/// Elements are summed in an order that depends on the sizes alone (with AVX2 not for 5 columns, of which the last 3
/// have another one); with one or two columns it is dot_block()'s. bf16 and f16 are multiplied and summed in f32, and
/// rounded once.
template <class T, class Out>
void few_columns_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<Out>& c, bool accumulate);

/// Whether that is the fastest way for `rows` sums of so many terms for each column. By sizes alone.
template <class T> bool prefers_few_columns(int64_t rows, int64_t terms, int64_t columns);

/// Whether a b is a product for few_columns_product(). (One of fewer rows than columns is so transposed.)
template <class T> bool is_few_columns(const Matrix<const T>& a, const Matrix<const T>& b) {
  return b.columns <= std::min(a.rows, kMostFewColumns) && a.column_stride == 1 && b.row_stride == 1 &&
         a.columns <= kLongestDot && prefers_few_columns<T>(a.rows, a.columns, b.columns);
}

}  // namespace weft::kernels::cpu

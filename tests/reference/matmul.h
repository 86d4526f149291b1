// Naive products of matrices.
#pragma once

#include "tests/reference/array.h"

namespace weft::testing::reference {

/// a (rows, n) times b (n, columns).
Array product(const Array& a, const Array& b);
/// The matrix with its two axes swapped.
Array transposed(const Array& a);
/// The matrix of the last two axes that `batch`, an index of a larger, broadcast shape, reads.
Array matrix_at(const Array& x, const Index& batch);
/// The shape without its last two axes.
Shape batch_of(const Shape& shape);
/// Products of all matrices of the last two axes; the axes before them broadcast.
Array matmul(const Array& a, const Array& b);

}  // namespace weft::testing::reference

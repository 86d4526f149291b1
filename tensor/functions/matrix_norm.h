// Norms of vectors and matrices, and condition numbers.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// (sum |x|^p)^(1/p) over `axes` (none: all); p = 0 counts what is not 0, infinity is the largest |x|, -infinity the
/// smallest.
Tensor vector_norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});

enum class MatrixNorm { frobenius, nuclear };
/// Of matrices, which lie on two axes: the root of the sum of squares, or the sum of the singular values.
Tensor matrix_norm(const Tensor& a, MatrixNorm norm = MatrixNorm::frobenius, const Axes& axes = {-2, -1},
                   KeepDim keep = {});
/// p = 1 is the largest sum of |a| over a column, infinity over a row, 2 the largest singular value; -1, -infinity and
/// -2 are the smallest. Error for any other p.
Tensor matrix_norm(const Tensor& a, double p, const Axes& axes = {-2, -1}, KeepDim keep = {});

/// The condition number of matrices (..., m, n): largest by smallest singular value, or with `p` (as for matrix_norm)
/// the norm of a square matrix times that of its inverse. Infinite for a singular matrix where p is 2, -2 or absent.
Tensor cond(const Tensor& a, std::optional<double> p = std::nullopt);
Tensor cond(const Tensor& a, MatrixNorm norm);

}  // namespace weft

// Norms of vectors and matrices, and condition numbers.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// (sum |x|^p)^(1/p) over `axes` (none: all); p = 0 counts what is not 0, infinity is the largest |x|, -infinity the
/// smallest. The gradient is 0 where the norm is 0 (and for p = 0), at elements that are 0, and shared evenly by
/// extremes that are equal.
Tensor vector_norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});

/// x, whose slices along `axis` are made shorter where their norm over all other axes is above `most`, to that norm.
/// ShapeError below two axes, Error unless p > 0 and most >= 0.
Tensor renorm(const Tensor& x, double p, int64_t axis, double most);

enum class MatrixNorm { frobenius, nuclear };
/// Of matrices, which lie on two axes: the root of the sum of squares, or the sum of the singular values. Gradients:
/// a / norm, 0 at 0; and u vh of the reduced svd, which is one of several at matrices of lower rank. The second
/// derivative of the sum of singular values needs distinct ones.
Tensor matrix_norm(const Tensor& a, MatrixNorm norm = MatrixNorm::frobenius, const Axes& axes = {-2, -1},
                   KeepDim keep = {});
/// p = 1 is the largest sum of |a| over a column, infinity over a row, 2 the largest singular value; -1, -infinity and
/// -2 are the smallest. Error for any other p. Gradients: of 2 and -2 the outer product of the singular vectors, where
/// that singular value occurs once and is not 0 (of several equal ones the mean of their products); of the others the
/// signs in the column or row of the norm, shared evenly by equal ones.
Tensor matrix_norm(const Tensor& a, double p, const Axes& axes = {-2, -1}, KeepDim keep = {});

/// The condition number of matrices (..., m, n): largest by smallest singular value, or with `p` (as for matrix_norm)
/// the norm of a square matrix times that of its inverse. With -2 the smallest by the largest. For a singular matrix it
/// is infinite where p is 2 or absent (its gradient is not finite), 0 for -2, and else the error of inv(). The gradient
/// is that of these quotients and products: it needs extreme singular values that occur once.
Tensor cond(const Tensor& a, std::optional<double> p = std::nullopt);
Tensor cond(const Tensor& a, MatrixNorm norm);

}  // namespace weft

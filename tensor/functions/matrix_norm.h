// Norms of vectors and matrices, and condition numbers.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// (sum |x|^p)^(1/p) over `axes` (all axes if none are given). p = 0 counts the elements that are not 0, p = infinity
/// gives the largest |x|, p = -infinity the smallest. The gradient is 0 for p = 0, where the norm is 0, and at elements
/// that are 0. For p = +-infinity, elements that tie share the gradient evenly.
Tensor vector_norm(const Tensor& x, double p = 2, const Axes& axes = {}, KeepDim keep = {});

/// Multiplies each slice of x along `axis` whose p-norm is larger than `most` by most / (norm + 1e-7), as PyTorch does.
/// ShapeError if x has fewer than two axes, Error unless p > 0 and most >= 0.
Tensor renorm(const Tensor& x, double p, int64_t axis, double most);

enum class MatrixNorm { frobenius, nuclear };
/// The norm of the matrices on the two `axes`. Frobenius: the square root of the sum of squares; its gradient is
/// a / norm, and 0 where the norm is 0. Nuclear: the sum of the singular values; its gradient is u vh of the reduced
/// SVD (a subgradient if the matrix is rank-deficient), and its second derivative needs distinct singular values.
Tensor matrix_norm(const Tensor& a, MatrixNorm norm = MatrixNorm::frobenius, const Axes& axes = {-2, -1},
                   KeepDim keep = {});
/// p = 1: the largest sum of |a| over a column; p = infinity: the largest over a row; p = 2: the largest singular
/// value. -1, -infinity and -2 give the smallest instead. Error for any other p.
/// The gradient for 2 and -2 is the outer product of the singular vectors, if that singular value is distinct and not 0
/// (the mean of the products if several are equal). The gradient for the other p is the sign of a in the selected
/// column or row; ties share it evenly.
Tensor matrix_norm(const Tensor& a, double p, const Axes& axes = {-2, -1}, KeepDim keep = {});

/// The condition number of matrices (..., m, n). Without p, or with p = 2: the largest divided by the smallest singular
/// value; with p = -2: the smallest divided by the largest. With another `p` (as for matrix_norm): the norm of a square
/// matrix times the norm of its inverse. A singular matrix gives infinity (2 or no p; the gradient is not finite), 0
/// (-2), or the Error of inv() (other p); a matrix of zeros gives NaN (2, -2 or no p). The gradient needs the extreme
/// singular values to be distinct from the others.
Tensor cond(const Tensor& a, std::optional<double> p = std::nullopt);
Tensor cond(const Tensor& a, MatrixNorm norm);

}  // namespace weft

// solve, inverse and determinants by LU factorization with row exchanges. The last two axes are matrices, the others
// are batch axes. f32 and f64. Gradients: Giles 2008, "Collected matrix derivative results"; they reuse the LU factors.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Solves a x = b for x, with a (..., n, n) and b (..., n, k) or one vector per matrix (..., n), as in PyTorch. Batch
/// axes broadcast. With left = false, solves x a = b with b (..., k, n); b cannot be a vector then. Error
/// `matrix 3 of the batch is singular`.
Tensor solve(const Tensor& a, const Tensor& b, bool left = true);
/// The inverse. Error `matrix 3 of the batch is singular`.
Tensor inv(const Tensor& a);
/// The same as inv(), PyTorch's older name.
inline Tensor inverse(const Tensor& a) { return inv(a); }

/// Solves tensordot(a, x, x.rank()) = b for x: the product of the last sizes of a equals the product of those of b,
/// with which its shape begins. `axes` are moved to the end of a first. ShapeError unless that fits.
Tensor tensorsolve(const Tensor& a, const Tensor& b, const IntList& axes = {});
/// The inverse of x under tensordot(x, ..., count): the product of its first `count` sizes equals the product of the
/// others. Its shape is the other sizes, then the first ones. ShapeError unless that fits.
Tensor tensorinv(const Tensor& x, int64_t count = 2);

/// The determinant. It is 0 for a singular matrix and 1 for an empty one. The gradient (the cofactor matrix) is also
/// correct for singular matrices, where it is computed from the singular vectors. The second derivative of a singular
/// matrix is correct if the matrix has rank n - 1 and distinct singular values.
Tensor det(const Tensor& a);
struct SlogdetResult {
  Tensor sign;  // -1, 0 or 1; it has no gradient
  Tensor logabsdet;
};
/// The sign of the determinant and the logarithm of its absolute value. A singular matrix gives 0 and -inf; its
/// gradient is an Error.
SlogdetResult slogdet(const Tensor& a);
/// log(det(a)): NaN if the determinant is negative, -inf if it is 0.
Tensor logdet(const Tensor& a);

}  // namespace weft

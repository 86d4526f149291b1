// Square systems through LU factorisation with row exchanges: solve, inverse, determinants. Matrices are the last two
// axes, all others are a batch. f32 and f64. The gradients are those of the exact functions (Giles 2008, "Collected
// matrix derivative results"); they use the factors again.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// x with a x = b for a (..., n, n) and b (..., n, k) or, as in PyTorch, a vector per matrix (..., n); batches
/// broadcast. With left = false, x a = b for b (..., k, n), no vectors. Error `matrix 3 of the batch is singular`.
Tensor solve(const Tensor& a, const Tensor& b, bool left = true);
/// The inverse. Error `matrix 3 of the batch is singular`.
Tensor inv(const Tensor& a);
/// inv() by its older name.
inline Tensor inverse(const Tensor& a) { return inv(a); }

/// The determinant; 0 of a singular matrix, 1 of an empty one. Its gradient, the matrix of cofactors, is right at
/// singular matrices too (through their singular vectors); its second derivative at matrices of rank n - 1 with
/// distinct singular values.
Tensor det(const Tensor& a);
struct SlogdetResult {
  Tensor sign;  // -1, 0 or 1; it has no gradient
  Tensor logabsdet;
};
/// Sign and logarithm of the magnitude of the determinant: 0 and -inf of a singular matrix, whose gradient is an error.
SlogdetResult slogdet(const Tensor& a);
/// log(det(a)): NaN where it is negative, -inf where it is 0.
Tensor logdet(const Tensor& a);

}  // namespace weft

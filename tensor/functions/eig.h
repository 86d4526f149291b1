// Eigenvalues and eigenvectors. The last two axes are matrices, the others are batch axes. f32 and f64. Error
// `matrix 3 of the batch has an element that is not finite`.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Which triangle of a symmetric matrix is read.
enum class Triangle { lower, upper };

struct EighResult {
  Tensor eigenvalues;   // (..., n), ascending
  Tensor eigenvectors;  // (..., n, n), orthonormal columns
};
/// a = v diag(w) v^T for symmetric matrices a, of which only one triangle is read. The sign of each eigenvector is
/// arbitrary. Gradient: Giles 2008, for a matrix that stays symmetric, so that both triangles change together. The
/// gradient of the eigenvectors is infinite if eigenvalues are equal.
EighResult eigh(const Tensor& a, Triangle triangle = Triangle::lower);
/// Only the eigenvalues of eigh(), ascending.
Tensor eigvalsh(const Tensor& a, Triangle triangle = Triangle::lower);

struct EigResult {
  Tensor eigenvalues;   // (..., n), in no particular order
  Tensor eigenvectors;  // (..., n, n), columns of length 1
};
/// a v = v diag(w) for square matrices a with real eigenvalues. Complex eigenvalues are an Error, as weft has no
/// complex numbers. Gradient: Giles 2008, for eigenvectors of length 1; it is infinite if eigenvalues are equal.
EigResult eig(const Tensor& a);
/// Only the eigenvalues of eig(), with the same errors.
Tensor eigvals(const Tensor& a);

}  // namespace weft

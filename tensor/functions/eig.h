// Eigenvalues and eigenvectors. Matrices are the last two axes, all others are a batch; f32 and f64. Error
// `matrix 3 of the batch has an element that is not finite`.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Which triangle of a symmetric matrix is read.
enum class Triangle { lower, upper };

struct EighResult {
  Tensor eigenvalues;   // (..., n), ascending
  Tensor eigenvectors;  // (..., n, n), orthonormal, in columns
};
/// a = v diag(w) v^T of symmetric matrices, of which one triangle is read. Vectors are determined up to their sign.
/// Gradient: Giles 2008; of the vectors it is infinite where eigenvalues are equal. It is that of a matrix whose two
/// triangles move together.
EighResult eigh(const Tensor& a, Triangle triangle = Triangle::lower);
/// The eigenvalues alone, ascending.
Tensor eigvalsh(const Tensor& a, Triangle triangle = Triangle::lower);

struct EigResult {
  Tensor eigenvalues;   // (..., n), in no particular order
  Tensor eigenvectors;  // (..., n, n), of length 1, in columns
};
/// a v = v diag(w) of square matrices whose eigenvalues are real: weft has no complex numbers, and others are an Error.
/// Gradient: Giles 2008, with vectors kept at length 1; infinite where eigenvalues are equal.
EigResult eig(const Tensor& a);
/// The eigenvalues alone; the same errors.
Tensor eigvals(const Tensor& a);

}  // namespace weft

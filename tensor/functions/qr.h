// QR factorization, and products of Householder reflections. The last two axes are matrices, the others are batch axes.
// f32 and f64.
#pragma once

#include "tensor/tensor.h"

namespace weft {

struct QrResult {
  Tensor q, r;
};
enum class QrMode { reduced, complete, r };
/// a = q r for matrices (..., m, n), f32 or f64. With k = min(m, n), q (..., m, k) has orthonormal columns and
/// r (..., k, n) is upper triangular. With QrMode::complete, q is (..., m, m) and r is (..., m, n); with
/// QrMode::r, q is not computed and is undefined. Computed by Householder reflections; signs agree with LAPACK.
/// Gradient: Walter and Lehmann 2018, arXiv 1009.6112. It is an Error if the first k columns are linearly dependent,
/// for QrMode::complete with m > n, whose added columns are arbitrary, and for QrMode::r.
QrResult qr(const Tensor& a, QrMode mode = QrMode::reduced);

struct GeqrfResult {
  Tensor a, tau;
};
/// The factorization of qr() in the form of LAPACK's geqrf, for matrices (..., m, n): one matrix (..., m, n) with r on
/// and above the diagonal and, below it in column j, the vector v_j of a reflection I - tau_j v_j v_j^T, whose elements
/// before the diagonal are 0 and on it 1; and tau (..., min(m, n)). It has no gradient; qr() has.
GeqrfResult geqrf(const Tensor& a);
/// The first n columns of the product of the reflections I - tau_j v_j v_j^T, j = 0 ... k - 1: a (..., m, n) has the
/// vectors v_j below its diagonal, as geqrf() gives them, and tau is (..., k); m >= n >= k. No other element of a is
/// read, and their gradient is 0. The numbers may be any: the product is orthogonal if each tau_j is 2 / |v_j|^2 or 0.
/// Computed in the compact form of Schreiber and Van Loan 1989. ShapeError if sizes or batch axes do not fit.
Tensor householder_product(const Tensor& a, const Tensor& tau);
/// The same, PyTorch's older name.
inline Tensor orgqr(const Tensor& a, const Tensor& tau) { return householder_product(a, tau); }
/// The product of the whole matrix q (m, m) of these reflections, or with `transposed` of q^T, and c (..., m, l),
/// without computing q; with left = false, c (..., l, m) q or c q^T. a is (..., m, n), tau (..., k), and k <= m, n.
/// Batch axes of c broadcast with those of a.
Tensor ormqr(const Tensor& a, const Tensor& tau, const Tensor& c, bool left = true, bool transposed = false);

}  // namespace weft

// QR factorization.
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

}  // namespace weft

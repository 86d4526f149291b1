// QR factorisation.
#pragma once

#include "tensor/tensor.h"

namespace weft {

struct QrResult {
  Tensor q, r;
};
enum class QrMode { reduced, complete };
/// a = q r of matrices (..., m, n), f32 or f64: with k = min(m, n), q (..., m, k) has orthonormal columns and r (...,
/// k, n) is upper triangular; with QrMode::complete q is (..., m, m) and r (..., m, n). By Householder reflections,
/// signs as LAPACK's. Gradient: Walter and Lehmann 2018, arXiv 1009.6112; it is an error where the first k columns are
/// dependent, and for QrMode::complete with m > n, whose added columns are arbitrary.
QrResult qr(const Tensor& a, QrMode mode = QrMode::reduced);

}  // namespace weft

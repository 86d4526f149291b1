// Window functions for spectral analysis.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// A window of `count` weights (1-D). n is count - 1 for a symmetric window and count for a periodic one (the form used
/// with Fourier transforms), which is the first `count` values of the symmetric window of count + 1. For count = 1 the
/// weight is 1. DtypeError unless floating, ShapeError if count < 0.
///
/// sin^2(pi i / n)
Tensor hann_window(int64_t count, bool periodic = true, DType dtype = f32);
/// alpha - beta cos(2 pi i / n)
Tensor hamming_window(int64_t count, bool periodic = true, double alpha = 0.54, double beta = 0.46, DType dtype = f32);
/// 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n)
Tensor blackman_window(int64_t count, bool periodic = true, DType dtype = f32);
/// 1 - |2 i / n - 1|
Tensor bartlett_window(int64_t count, bool periodic = true, DType dtype = f32);
/// I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta), where I0 is the modified Bessel function of order 0. Error unless
/// |beta| <= 700.
Tensor kaiser_window(int64_t count, bool periodic = true, double beta = 12, DType dtype = f32);

}  // namespace weft

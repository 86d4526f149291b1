// Window functions for spectra, and numbers spaced evenly in their logarithm.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// `count` weights (1-D) of a window. A periodic one is what a transform wants: the first `count` values of the
/// symmetric window of count + 1. A single weight is 1. DtypeError unless floating, ShapeError for count < 0.
///
/// sin^2(pi i / n)
Tensor hann_window(int64_t count, bool periodic = true, DType dtype = f32);
/// alpha - beta cos(2 pi i / n)
Tensor hamming_window(int64_t count, bool periodic = true, double alpha = 0.54, double beta = 0.46, DType dtype = f32);
/// 0.42 - 0.5 cos(2 pi i / n) + 0.08 cos(4 pi i / n)
Tensor blackman_window(int64_t count, bool periodic = true, DType dtype = f32);
/// 1 - |2 i / n - 1|
Tensor bartlett_window(int64_t count, bool periodic = true, DType dtype = f32);
/// I0(beta sqrt(1 - (2 i / n - 1)^2)) / I0(beta), I0 being the modified Bessel function.
Tensor kaiser_window(int64_t count, bool periodic = true, double beta = 12, DType dtype = f32);

/// `count` values base^e for e evenly spaced from `start` to `end`, both included.
Tensor logspace(const Scalar& start, const Scalar& end, int64_t count, double base = 10, DType dtype = f32);

}  // namespace weft

// The matrix exponential.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The sum over k of a^k / k! for matrices (..., n, n), f32 or f64, by scaling and squaring (Higham 2005). A matrix
/// with an element that is not finite gives NaN. Gradient: Mathias 1996, from the exponential of a matrix of twice the
/// size.
Tensor matrix_exp(const Tensor& a);

}  // namespace weft

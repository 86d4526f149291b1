// The matrix exponential.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// sum_k a^k / k! of matrices (..., n, n), f32 or f64, by scaling and squaring (Higham 2005). NaN where an element is
/// not finite. Gradient: Mathias 1996, through the exponential of a matrix of twice the size.
Tensor matrix_exp(const Tensor& a);

}  // namespace weft

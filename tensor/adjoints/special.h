// Derivatives of special functions; called by rules.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The derivative of log_ndtr: sqrt(2 / pi) e^(-x^2 / 2) / erfc(-x / sqrt(2)).
Tensor log_ndtr_slope(const Tensor& x);
/// x^(a - 1) e^-x / Gamma(a), the derivative of igamma by x.
Tensor gamma_density(const Tensor& a, const Tensor& x);

}  // namespace weft::adjoint

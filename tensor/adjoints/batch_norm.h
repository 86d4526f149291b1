// The gradient of batch normalisation; called by rules.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias of batch_norm; of batch_norm_relu where `relu`, which alone reads the bias.
std::array<Tensor, 3> batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& mean, const Tensor& rstd, double eps, bool relu);

}  // namespace weft::adjoint

// The gradient of batch normalisation; called by rules.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias of batch_norm; of batch_norm_relu where `relu`, which alone reads the bias.
/// Those whose bit (0, 1, 2) is not in `wanted` are not computed and have shape [0].
std::array<Tensor, 3> batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& mean, const Tensor& rstd, double eps, bool relu,
                                          int wanted = 0b111);

}  // namespace weft::adjoint

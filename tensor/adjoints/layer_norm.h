// The gradient of layer normalisation; called by rules.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias from the statistics that op::LayerNorm returns.
std::array<Tensor, 3> layer_norm_backward(const Tensor& g, const Tensor& x, int64_t normalized_axes,
                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd, double eps);

}  // namespace weft::adjoint

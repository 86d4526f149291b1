// The gradient of layer normalization; called by rules.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias from the statistics that op::LayerNorm returns. Those whose bit
/// (0, 1, 2) is not in `wanted` are not computed and have shape [0].
std::array<Tensor, 3> layer_norm_backward(const Tensor& g, const Tensor& x, int64_t normalized_axes,
                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd, double eps,
                                          int wanted = 0b111, bool rms = false);

}  // namespace weft::adjoint

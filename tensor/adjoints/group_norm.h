// The gradient of group normalization; called by rules.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias from the statistics that op::GroupNorm returns. Those whose bit (0, 1, 2) is not
/// in `wanted` are not computed and have shape [0].
std::array<Tensor, 3> group_norm_backward(const Tensor& g, const Tensor& x, int64_t groups, const Tensor& weight,
                                          const Tensor& mean, const Tensor& rstd, double eps, int wanted = 0b111);

}  // namespace weft::adjoint

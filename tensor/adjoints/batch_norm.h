// The gradient of batch normalization, called by rules, and the running statistics, which layers keep.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias of batch_norm; of batch_norm_relu where `relu`, which alone reads the bias.
/// Those whose bit (0, 1, 2) is not in `wanted` are not computed and have shape [0].
std::array<Tensor, 3> batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& mean, const Tensor& rstd, double eps, bool relu,
                                          int wanted = 0b111);

/// running = (1 - momentum) running + momentum (that of a batch), in place, for each of the two that is defined. mean
/// and var (C) are those of a batch with `count` values a channel, the variance biased; the running one is unbiased.
void update_running(Tensor running_mean, Tensor running_var, const Tensor& mean, const Tensor& var, int64_t count,
                    double momentum);

}  // namespace weft::adjoint

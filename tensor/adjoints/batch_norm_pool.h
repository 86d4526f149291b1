// The gradient of batch normalization, relu and max-pooling as one op; called by rules.
#pragma once

#include <array>

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x, weight and bias, from the statistics and indices that the op returned.
std::array<Tensor, 3> batch_norm_relu_max_pool2d_backward(const Tensor& g, const Tensor& indices, const Tensor& x,
                                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                          const Pool2dOptions& options, double eps);

}  // namespace weft::adjoint

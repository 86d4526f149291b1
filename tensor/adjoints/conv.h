// The gradients of conv2d as ops of their own; called by rules.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradient of the input, which had `input_shape` (N, C, H, W), from that of the result.
Tensor conv2d_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape,
                            const Conv2dOptions& options);
/// The gradient of the weight, in the memory order of `weight` where that is dense, else row-major.
Tensor conv2d_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const Conv2dOptions& options);

}  // namespace weft::adjoint

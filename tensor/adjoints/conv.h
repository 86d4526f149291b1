// Convolutions over any number of axes, and their gradients as ops of their own; called by rules.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// conv1d to conv3d without a bias, by the number of axes that `options` names.
Tensor conv(const Tensor& x, const Tensor& weight, const ConvOptions& options);
/// The gradient of the input, which had `input_shape` (N, C, ...), from that of the result.
Tensor conv_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape, const ConvOptions& options);
/// The gradient of the weight, in the memory order of `weight` where that is dense, else row-major; in `into` where
/// that is defined.
Tensor conv_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const ConvOptions& options,
                             const Tensor& into = {});

}  // namespace weft::adjoint

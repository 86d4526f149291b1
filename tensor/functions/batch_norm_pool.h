// Batch normalisation, relu and max-pooling as one op: what comes between two convolutions of a network for images.
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/functions/batch_norm.h"

namespace weft {

/// max_pool2d(batch_norm_relu(x).y) of x (N, C, H, W), and the statistics; weight and bias are (C) or undefined. In
/// one pass over memory where windows tile the image, x is f32 or f64 as the parameters are, and lies channels-last (as
/// convolutions leave it); else one op after the other. Errors are those of the three.
BatchNormResult batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                           const Pool2dOptions& options, double eps = 1e-5);

}  // namespace weft

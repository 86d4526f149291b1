// Batch normalization, relu and max-pooling as one op: what comes between two convolutions of a network for images.
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/functions/batch_norm.h"

namespace weft {

/// max_pool2d(batch_norm_relu(x).y) for x (N, C, H, W), and the statistics of the batch. weight and bias are (C) or
/// undefined. The result is computed in one pass over memory if the pooling windows tile the image, x and the
/// parameters have the same dtype (those of a 16-bit x may have another), and x is channels-last in memory, as
/// convolutions produce it. Otherwise the ops run one after the other. Errors are those of batch_norm_relu() and
/// max_pool2d().
BatchNormResult batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                           const Pool2dOptions& options, double eps = 1e-5);

}  // namespace weft

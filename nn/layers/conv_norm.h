// A convolution followed by batch norm, fused into one op when no gradient is needed.
#pragma once

#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"

namespace weft::nn {

/// norm(conv(x)), followed by relu if `then_relu`. In evaluation, if nothing is recorded and no observer needs separate
/// ops, this is one op (conv2d_scaled). The fused op rounds differently from the separate layers: it rounds
/// (x - mean) / std where they round x - mean.
Tensor conv_norm(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x, bool then_relu);
/// Whether conv_norm() runs as one op for this x.
bool is_one_op(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x);
/// That op, which also adds `residual` if it is defined, before the relu.
Tensor one_conv_norm(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x, const Tensor& residual,
                     bool then_relu);

}  // namespace weft::nn

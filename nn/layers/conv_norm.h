// A convolution and the batch norm behind it, as one op where no gradient is wanted.
#pragma once

#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"

namespace weft::nn {

/// norm(conv(x)), + residual where there is one, and relu of that where asked for. In evaluation, where nothing is
/// recorded or observed, it is one op (conv2d_scaled), which rounds (x - mean) / std where the layers round x - mean.
Tensor conv_norm(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x, const Tensor& residual = {},
                 bool then_relu = false);
/// Whether it would be one op.
bool is_one_op(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x);

}  // namespace weft::nn

// The weight's gradient of a convolution of images of few channels, as the first one of a network: a pixel is too short
// to be a row of a product, and whole windows in memory would be many times the image.
//
// f32, one group, height and width only, windows without gaps; images dense and channels-last, the weight with any
// strides. No size is 0. The same bits at any thread count.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// Whether it takes these sizes, and whether it is faster than oneDNN as well. By sizes alone.
bool fits_few_channels(const ConvShape& s);
bool prefers_few_channels(const ConvShape& s);

void few_channels_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                        const WeightStrides& strides);

}  // namespace weft::kernels::cpu

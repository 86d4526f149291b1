// Convolutions of few channels: a pixel is too short to be a row of a product, and whole windows in memory would be
// many times the image. Of f32 the weight's gradient (the first layer of a network), of f64 all three directions.
//
// Height and width only, windows without gaps; images dense and channels-last, the weight with any strides. No size is
// 0. The same bits at any thread count.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// Whether it takes these sizes, and whether it is faster than other kernels as well. By sizes alone. T is float or
/// double.
bool fits_few_channels(const ConvShape& s, ConvDirection direction);
template <class T> bool prefers_few_channels(const ConvShape& s, ConvDirection direction);

/// `bias` holds one value per filter or is null.
template <class T>
void few_channels_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias,
                       T* out);
template <class T>
void few_channels_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                     T* grad_x);
template <class T>
void few_channels_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                        const WeightStrides& strides);

}  // namespace weft::kernels::cpu

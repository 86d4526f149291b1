// Convolution tap by tap: for each element of the window one product (pixels, channels) x (channels, filters) over just
// those pixels whose window element lies inside of the image. Many channels on few pixels are two to three times faster
// this way than in oneDNN: most elements of a 3 x 3 window over 2 x 2 pixels are padding, and the weight is read once,
// without a reorder where its channels or filters are contiguous.
//
// f32, or bf16 on CPUs that multiply it, with sums in f32; one group, height and width only; images dense and
// channels-last, the weight with any strides that do not overlap. No size is 0.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// The shapes this is for. By sizes alone: no choice depends on a timing.
bool prefers_taps(const ConvShape& s);

/// `bias` holds one value per filter or is null.
template <class T>
void tap_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const float* bias, T* out);
template <class T>
void tap_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                            T* grad_x);
template <class T>
void tap_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                               const WeightStrides& strides);

}  // namespace weft::kernels::cpu

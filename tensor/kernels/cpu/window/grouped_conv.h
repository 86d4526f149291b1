// Convolutions of many narrow groups (ResNeXt: 32 groups of 4 channels): as matrices they would have 4 columns. A
// register holds the channels of several groups, and a tap is as many products of registers as a group has channels:
// for each, the register is rotated within its groups, so that every channel is multiplied once for every filter of its
// group.
//
// Images are dense and channels-last, the weight has any strides. No size is 0. The same bits at any thread count.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// Groups of 2, 4 or 8 channels, and of as many filters.
bool has_narrow_groups(const ConvShape& s);

/// `bias` holds one value per filter or is null.
void grouped_conv(const ConvShape& s, const float* x, const float* weight, const WeightStrides& strides,
                  const float* bias, float* out);
void grouped_conv_backward_data(const ConvShape& s, const float* grad, const float* weight,
                                const WeightStrides& strides, float* grad_x);
void grouped_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                   const WeightStrides& strides);

}  // namespace weft::kernels::cpu

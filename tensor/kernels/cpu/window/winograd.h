// Winograd convolution of stride 1, F(4 x 4, 3 x 3): a 3 x 3 window with a quarter of the multiplications, in f32.
// Larger windows are the sum of parts of at most 3 x 3 taps, deep ones have parts for each depth; windows of one line
// take F(4, 3), half of the multiplications.
//
// Results differ from direct ones by rounding (tensor/core/conv_options.h has the bound). Images are dense and
// channels-last, with no reorder; the weight has any strides. No size is 0. The same bits at any thread count. Each
// function returns false where a result was not finite: what it wrote is undefined then, and a direct convolution tells
// which results NaN and Inf reach.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// Whether the stride and dilation are 1 and the window has 2 to 7 taps along its rows, and as many rows or one.
bool fits_winograd(const ConvShape& s);
/// Whether it is faster than direct convolution as well, `packed`: with a weight that was transformed before. By sizes
/// alone.
bool prefers_winograd(const ConvShape& s, ConvDirection direction, bool packed = false);

/// The floats of a transformed weight, which depends on the weight, its sizes and groups alone, and the transformed
/// weight.
int64_t winograd_weight_size(const ConvShape& s);
void winograd_weight(const ConvShape& s, const float* weight, const WeightStrides& strides, float* out);

/// `packed` is what winograd_weight() gave for the weight; null: it is transformed here, and forgotten.
bool winograd_conv(const ConvShape& s, const float* x, const float* weight, const WeightStrides& strides,
                   const float* packed, const ConvFinish& finish, float* out);
bool winograd_conv_backward_data(const ConvShape& s, const float* grad, const float* weight,
                                 const WeightStrides& strides, float* grad_x);
bool winograd_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                    const WeightStrides& strides);

}  // namespace weft::kernels::cpu

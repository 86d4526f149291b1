// Depthwise convolution: every channel has a filter of its own, so that there is nothing to multiply as matrices.
// Channels are contiguous, and vectors of them go through the window.
//
// T is float or double; one group, one channel and one filter each; images are dense and channels-last, the weight has
// any strides. No size is 0. The same bits at any thread count.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

inline bool is_depthwise(const ConvShape& s) { return s.groups > 1 && s.channels == s.groups && s.filters == s.groups; }

/// `bias` holds one value per channel or is null.
template <class T>
void depthwise_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias,
                    T* out);

template <class T>
void depthwise_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                  T* grad_x);

template <class T>
void depthwise_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                     const WeightStrides& strides);

}  // namespace weft::kernels::cpu

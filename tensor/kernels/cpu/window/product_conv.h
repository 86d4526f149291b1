// Convolution as matrix products: windows become rows of a matrix (in pieces that fit the cache), which gemm multiplies
// with the weight. The path of every dtype and shape that oneDNN has no fast kernel for, and the one tests compare
// with.
//
// T is float or double. Images are dense and channels-last; the weight has any strides. No size is 0.
#pragma once

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu {

/// `bias` holds one value per filter or is null.
template <class T>
void product_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias, T* out);

template <class T>
void product_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                T* grad_x);

template <class T>
void product_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                   const WeightStrides& strides);

}  // namespace weft::kernels::cpu

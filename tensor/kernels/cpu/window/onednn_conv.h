// Convolutions through oneDNN.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu::onednn {

/// Convolutions of images that are dense and channels-last in memory, the weight dense under its strides. T: float, or
/// BFloat16 where has_fast_bf16(), with sums in f32. Each returns false where oneDNN has no fast kernel for the shape
/// on this CPU: nothing was done. `bias` holds one value per filter or is null.
template <class T>
bool conv_forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const float* bias, T* out);
template <class T>
bool conv_backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x);
template <class T>
bool conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_w, const WeightStrides& strides);

/// The implementations oneDNN chose: "forward data weights", `-` for none. For tests.
std::array<const char*, 3> conv_implementations(const ConvShape& s, const WeightStrides& strides);

}  // namespace weft::kernels::cpu::onednn

// Convolutions through oneDNN.
#pragma once

#include <array>
#include <cstdint>

#include "tensor/kernels/cpu/window/conv_shape.h"

namespace weft::kernels::cpu::onednn {

/// What pack_weight() gave for a weight, and its layout.
struct PackedWeight {
  const float* data = nullptr;  // null: the weight is not packed
  int64_t elements = 0, layout = 0;
};

/// Convolutions of images that are dense and channels-last in memory, the weight dense under its strides. T: float, or
/// BFloat16 where has_fast_bf16(), with sums in f32. Each returns false where oneDNN has no fast kernel for the shape
/// on this CPU: nothing was done. `bias` holds one value per filter or is null. `packed` is taken where oneDNN reads
/// the weight in that layout.
template <class T>
bool conv_forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const float* bias, T* out,
                  const PackedWeight& packed = {});
template <class T>
bool conv_backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x);
template <class T>
bool conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_w, const WeightStrides& strides);

/// How oneDNN reads the weight of a forward convolution: so many floats in a layout that `id` tells from others, never
/// 0; no elements where it reads the weight as it lies, or has no fast kernel.
struct WeightLayout {
  int64_t elements = 0, id = 0;
};
WeightLayout weight_layout(const ConvShape& s, const WeightStrides& strides);
/// The weight in that layout; there must be one.
void pack_weight(const ConvShape& s, const float* w, const WeightStrides& strides, float* out);

/// The implementations oneDNN chose: "forward data weights", `-` for none. For tests.
std::array<const char*, 3> conv_implementations(const ConvShape& s, const WeightStrides& strides);

}  // namespace weft::kernels::cpu::onednn

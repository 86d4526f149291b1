// Which kernel a convolution runs in, by sizes and settings alone.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/window/depthwise_conv.h"
#include "tensor/kernels/cpu/window/grouped_conv.h"
#include "tensor/kernels/cpu/window/tap_conv.h"
#include "tensor/kernels/cpu/window/winograd.h"
#include "tensor/runtime/convolution.h"

namespace weft::kernels::cpu {

/// Whether a convolution of f32 runs in Winograd's filtering, also where its weight was transformed before.
inline bool takes_winograd(const ConvShape& s, ConvDirection direction, bool packed = false) {
  if (loops_forced() || convolution() == Convolution::direct || s.algorithm == Convolution::direct) return false;
  return prefers_winograd(s, direction, packed);
}

/// Whether oneDNN takes such distances of pixels: it generates code pixel by pixel of the padding (2^20 take seconds),
/// and counts in 32 bits.
inline bool fits_library(const ConvShape& s) {
  constexpr int64_t kMost = int64_t{1} << 15;
  for (int axis = 0; axis < 3; ++axis)
    if (s.stride[axis] > kMost || s.padding[axis] > kMost || s.dilation[axis] > kMost) return false;
  return true;
}

/// How an f32 convolution runs otherwise, by sizes alone.
enum class ConvKernel { product, taps, groups, depthwise, onednn };

/// Whether windows with strides or gaps are laid out for a product. Without AVX-512, oneDNN's kernels for these reach
/// half of a product's rate and less; they are faster for few channels or pixels, and where many windows share a pixel
/// (measured on Zen 3).
inline bool prefers_product(const ConvShape& s, ConvDirection direction) {
  if (simd::kVectorBytes == 64 || s.groups > 1 || !s.is_flat()) return false;
  const bool dilated = s.dilation != Size3(1);
  const bool few_taps = s.taps() > 1 && s.taps() <= 9;
  const int64_t pixels = s.out[1] * s.out[2], least = std::min(s.channels, s.filters);
  if ((s.stride == Size3(1) && !dilated) || pixels < 49 || least < 32) return false;
  switch (direction) {
    case ConvDirection::forward: return least >= 64 && few_taps;
    case ConvDirection::backward_data: return few_taps && !dilated;
    case ConvDirection::backward_weights: return s.taps() <= 9 || pixels >= 196;
  }
  return false;
}

inline ConvKernel choose_kernel(const ConvShape& s, ConvDirection direction) {
  if (loops_forced() || !fits_library(s)) return ConvKernel::product;
  if (s.is_pointwise() && s.groups == 1) return ConvKernel::product;  // it is one, with nothing laid out
  if (is_depthwise(s) && !s.is_flat()) return ConvKernel::depthwise;  // oneDNN takes volumes channel by channel
  if (has_narrow_groups(s)) return ConvKernel::groups;
  if (prefers_taps(s)) return ConvKernel::taps;
  return prefers_product(s, direction) ? ConvKernel::product : ConvKernel::onednn;
}

}  // namespace weft::kernels::cpu

// 2-D convolution (cross-correlation, as everywhere in the field).
#pragma once

#include <concepts>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) or undefined; the result is (N, O, H', W') in channels-last
/// memory order. H' = (H + 2 padding - dilation (kh - 1) - 1) / stride + 1. An image (C, H, W) gives (O, H', W').
/// Dtypes promote; DtypeError unless they become floating. ShapeError where the shapes do not fit together, the kernel
/// is larger than the padded image, or the size of the result overflows; Error for options out of range.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});
/// Without a bias: conv2d(x, weight, {.stride = 2}). A template, so that conv2d(x, weight, {}) is not ambiguous: there
/// the function above is chosen, and both mean the same.
template <std::same_as<Conv2dOptions> Options = Conv2dOptions>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Options& options) {
  return conv2d(x, weight, Tensor(), options);
}

}  // namespace weft

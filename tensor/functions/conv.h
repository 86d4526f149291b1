// Convolution (cross-correlation, as everywhere in the field) over one to three axes, and its transpose.
//
// Dtypes promote; DtypeError unless they become floating. ShapeError where shapes do not fit together, the kernel is
// larger than the padded input, or the size of the result overflows; Error for options out of range. Without a batch
// axis in x there is none in the result, which is in channels-last memory order. Options are numbers, or one per axis;
// the padding of a convolution of stride 1 may be `same`, and hold entries of x (padding_mode).
#pragma once

#include <concepts>
#include <utility>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// x (N, C, L), weight (O, C / groups, k), bias (O) or undefined: (N, O, L'), with L' as H' of conv2d.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv1dOptions& options = {});
/// x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) or undefined: (N, O, H', W'), where
/// H' = (H + 2 padding - dilation (kh - 1) - 1) / stride + 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});
/// x (N, C, D, H, W), weight (O, C / groups, kd, kh, kw), bias (O) or undefined: (N, O, D', H', W').
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv3dOptions& options = {});

/// The transpose of conv1d as a linear map of x: x (N, C, L), weight (C, O / groups, k): (N, O, L'), with L' as H' of
/// conv_transpose2d.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose1dOptions& options = {});
/// The transpose of conv2d as a linear map of x: x (N, C, H, W), weight (C, O / groups, kh, kw): (N, O, H', W'), where
/// H' = (H - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose2dOptions& options = {});
/// The same for x (N, C, D, H, W) and weight (C, O / groups, kd, kh, kw).
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose3dOptions& options = {});

// Without a bias: conv2d(x, weight, {.stride = 2}). Templates, so that conv2d(x, weight, {}) is not ambiguous: there
// the functions above are chosen, and both mean the same.
#define WEFT_CONV_WITHOUT_BIAS(function, Default)                                  \
  template <std::same_as<Default> Options = Default>                               \
  Tensor function(const Tensor& x, const Tensor& weight, const Options& options) { \
    return function(x, weight, Tensor(), options);                                 \
  }
WEFT_CONV_WITHOUT_BIAS(conv1d, Conv1dOptions)
WEFT_CONV_WITHOUT_BIAS(conv2d, Conv2dOptions)
WEFT_CONV_WITHOUT_BIAS(conv3d, Conv3dOptions)
WEFT_CONV_WITHOUT_BIAS(conv_transpose1d, ConvTranspose1dOptions)
WEFT_CONV_WITHOUT_BIAS(conv_transpose2d, ConvTranspose2dOptions)
WEFT_CONV_WITHOUT_BIAS(conv_transpose3d, ConvTranspose3dOptions)
#undef WEFT_CONV_WITHOUT_BIAS

namespace detail {
/// x and the options with which a convolution of zeros alone pads as `options` say. ShapeError for `same` and a stride.
template <class Sizes>
std::pair<Tensor, ConvOptionsOf<Sizes>> padded(const Tensor& x, const Tensor& weight,
                                               const ConvOptionsOf<Sizes>& options);
}  // namespace detail

}  // namespace weft

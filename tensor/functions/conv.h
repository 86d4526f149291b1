// Convolution (cross-correlation, as in PyTorch) over one to three spatial axes, and its transpose.
//
// Dtypes promote; DtypeError unless the promoted dtype is floating. ShapeError if shapes do not match, the kernel is
// larger than the padded input, or the size of the result overflows; Error for options out of range. x may come without
// the batch axis N, and so does the result then. The result is channels-last in memory. An option is one number for all
// axes, or one number per axis. The padding of a convolution of stride 1 may be `same`; padding_mode selects padding
// with entries of x instead of zeros.
#pragma once

#include <concepts>
#include <utility>

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// x (N, C, L), weight (O, C / groups, k) and bias (O) or undefined give (N, O, L'). The formula of L' is that of H' in
/// conv2d.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv1dOptions& options = {});
/// x (N, C, H, W), weight (O, C / groups, kh, kw) and bias (O) or undefined give (N, O, H', W'), where
/// H' = floor((H + 2 padding - dilation (kh - 1) - 1) / stride) + 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& options = {});
/// x (N, C, D, H, W), weight (O, C / groups, kd, kh, kw) and bias (O) or undefined give (N, O, D', H', W').
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv3dOptions& options = {});

/// The transpose of conv1d as a linear map of x: x (N, C, L) and weight (C, O / groups, k) give (N, O, L'). The formula
/// of L' is that of H' in conv_transpose2d.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose1dOptions& options = {});
/// The transpose of conv2d as a linear map of x: x (N, C, H, W) and weight (C, O / groups, kh, kw) give (N, O, H', W'),
/// where H' = (H - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose2dOptions& options = {});
/// The same for x (N, C, D, H, W) and weight (C, O / groups, kd, kh, kw).
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose3dOptions& options = {});

// Overloads without a bias: conv2d(x, weight, {.stride = 2}). They are templates, so that conv2d(x, weight, {}) is not
// ambiguous: it calls the functions above, with the same result. Numbers in braces do not compile, as they would be the
// first options: write {.stride = {1, 2}}.
#define WEFT_CONV_WITHOUT_BIAS(function, Default)                                                                \
  template <std::same_as<Default> Options = Default>                                                             \
  Tensor function(const Tensor& x, const Tensor& weight, const Options& options) {                               \
    return function(x, weight, Tensor(), options);                                                               \
  }                                                                                                              \
  template <std::integral T>                                                                                     \
  Tensor function(const Tensor& x, const Tensor& weight, const Tensor& bias, std::initializer_list<T> numbers) = \
      delete; /* {.stride = {1, 2}} */
WEFT_CONV_WITHOUT_BIAS(conv1d, Conv1dOptions)
WEFT_CONV_WITHOUT_BIAS(conv2d, Conv2dOptions)
WEFT_CONV_WITHOUT_BIAS(conv3d, Conv3dOptions)
WEFT_CONV_WITHOUT_BIAS(conv_transpose1d, ConvTranspose1dOptions)
WEFT_CONV_WITHOUT_BIAS(conv_transpose2d, ConvTranspose2dOptions)
WEFT_CONV_WITHOUT_BIAS(conv_transpose3d, ConvTranspose3dOptions)
#undef WEFT_CONV_WITHOUT_BIAS

namespace detail {
/// ShapeError for `same` with a stride other than 1.
template <class Sizes> void check_padding(const ConvPadding<Sizes>& padding, const Sizes& stride) {
  for (int64_t i = 0; i < Sizes::kAxes; ++i)
    if (padding.is_same && stride[i] != 1)
      throw ShapeError(text("padding `same` needs stride 1, not ", stride[i], "; give the padding as a number"));
}

/// Converts `same` padding and padding modes: returns x and options for a convolution that pads with zeros only, which
/// together give the result that `options` ask for. ShapeError for `same` with a stride other than 1.
template <class Sizes>
std::pair<Tensor, ConvOptionsOf<Sizes>> padded(const Tensor& x, const Tensor& weight,
                                               const ConvOptionsOf<Sizes>& options);
}  // namespace detail

}  // namespace weft

// Convolution layers for conv1d() to conv3d() and conv_transpose1d() to conv_transpose3d().
#pragma once

#include "nn/layers/options.h"
#include "nn/module/layer.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/conv_scaled.h"
#include "tensor/functions/pad_mode.h"

namespace weft::nn {

/// Padding that keeps the size of every axis, for layers and functions: `{.padding = nn::same}`.
inline constexpr SamePadding same;

template <class Sizes> struct ConvLayerOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Sizes kernel_size = 0;
  Sizes stride = 1;
  ConvPadding<Sizes> padding = 0;
  Sizes dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  PadMode padding_mode = PadMode::constant;  // constant: zeros; or entries of x; see pad()
  DType dtype = f32;
  Convolution algorithm = Convolution::fastest;
};
// The functions' options have the same names in namespace weft.
using Conv1dOptions = ConvLayerOptions<Size1>;
using Conv2dOptions = ConvLayerOptions<Size2>;
using Conv3dOptions = ConvLayerOptions<Size3>;

template <class Sizes> struct ConvTransposeLayerOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Sizes kernel_size = 0;
  Sizes stride = 1;
  Sizes padding = 0;
  Sizes output_padding = 0;
  int64_t groups = 1;
  bool bias = true;
  Sizes dilation = 1;
  DType dtype = f32;
  Convolution algorithm = Convolution::fastest;
};
using ConvTranspose1dOptions = ConvTransposeLayerOptions<Size1>;
using ConvTranspose2dOptions = ConvTransposeLayerOptions<Size2>;
using ConvTranspose3dOptions = ConvTransposeLayerOptions<Size3>;

/// Base of the convolution layers. weight and bias (out) are initialized uniformly in [-1 / sqrt(fan), 1 / sqrt(fan)),
/// as in PyTorch; fan is the weight's size(1) times the number of elements of the kernel.
template <class Self> class ConvLayer : public Layer<Self> {
 public:
  Tensor weight() const { return weight_; }
  /// Undefined if the layer has no bias.
  Tensor bias() const { return bias_; }

 protected:
  /// Creates the parameters without checks: weight (first, second, kernel...) and `biases` biases. `kernel` has one
  /// size per spatial axis.
  void make_parameters(int64_t first, int64_t second, const Shape& kernel, int64_t biases, DType dtype);
  /// The weight reordered for the convolution; reused while no gradient is needed.
  const PrepackedConvWeight& prepacked() const { return prepacked_; }

 private:
  PrepackedConvWeight prepacked_;
  Tensor weight_, bias_;
};

/// Defines a convolution layer over `Sizes` spatial axes. weight is (out, in / groups, kernel...), or (in, out /
/// groups, kernel...) for a transposed convolution.
#define WEFT_CONV_LAYER(Name, Sizes, ...)                                                                          \
  class Name : public ConvLayer<Name> {                                                                            \
   public:                                                                                                         \
    explicit Name(const Name##Options& options);                                                                   \
    Name(int64_t in_channels, int64_t out_channels, const Sizes& kernel_size, const Name##Options& options = {})   \
        : Name(detail::positional(options, &Name##Options::in_channels, in_channels, &Name##Options::out_channels, \
                                  out_channels, &Name##Options::kernel_size, kernel_size)) {}                      \
    Tensor forward(const Tensor& x) const;                                                                         \
    Name remake() const { return Name(options_); }                                                                 \
    const Name##Options& options() const { return options_; }                                                      \
    __VA_ARGS__                                                                                                    \
   private:                                                                                                        \
    Name##Options options_;                                                                                        \
  }

/// x (N, in, L) -> (N, out, L'); N may be absent, here and below.
WEFT_CONV_LAYER(Conv1d, Size1);
/// x (N, in, H, W) -> (N, out, H', W'). forward_scaled() applies conv2d_scaled() instead of conv2d().
WEFT_CONV_LAYER(Conv2d, Size2, Tensor forward_scaled(const Tensor& x, ConvScaling scaling) const;);
/// x (N, in, D, H, W) -> (N, out, D', H', W').
WEFT_CONV_LAYER(Conv3d, Size3);

/// The calls `up(x, {7, 7})` and `up(x, other.shape())` of a transposed convolution: the output_padding is the one that
/// gives a result of these spatial sizes, instead of the one in the options. ShapeError if there is none: sizes can be
/// up to stride - 1 above those without output_padding. Of a shape with as many axes as x only the spatial ones count.
#define WEFT_CALL_WITH_SIZE(Name)                           \
  Tensor forward(const Tensor& x, const Shape& size) const; \
  using Layer<Name>::operator();                            \
  Tensor operator()(const Tensor& x, const Shape& size) const { return Layer<Name>::operator()(x, size); }
/// x (N, in, L) -> (N, out, L'), the transpose of a convolution.
WEFT_CONV_LAYER(ConvTranspose1d, Size1, WEFT_CALL_WITH_SIZE(ConvTranspose1d));
/// x (N, in, H, W) -> (N, out, H', W').
WEFT_CONV_LAYER(ConvTranspose2d, Size2, WEFT_CALL_WITH_SIZE(ConvTranspose2d));
/// x (N, in, D, H, W) -> (N, out, D', H', W').
WEFT_CONV_LAYER(ConvTranspose3d, Size3, WEFT_CALL_WITH_SIZE(ConvTranspose3d));
#undef WEFT_CALL_WITH_SIZE
#undef WEFT_CONV_LAYER

/// Whether a layer may compute x with fused ops instead of its own: x has no history and is on the CPU, and there is no
/// Autocast, no hook, and no observer that needs separate ops.
bool runs_unseen(const Tensor& x);

}  // namespace weft::nn

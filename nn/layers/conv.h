// Convolution layers over conv1d() to conv3d() and conv_transpose1d() to conv_transpose3d().
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/conv_scaled.h"
#include "tensor/functions/pad_mode.h"

namespace weft::nn {

/// The padding that keeps the size of every axis, of layers and of functions: `{.padding = nn::same}`.
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
  PadMode padding_mode = PadMode::constant;  // what the padding holds: zeros, or entries of x; see pad()
  DType dtype = f32;
  Convolution algorithm = Convolution::fastest;
};
// Beside the options of the functions, which are in weft.
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

/// What convolution layers share: weight and bias (out), which start uniform in +-1 / sqrt(fan), the fan being the size
/// of the weight's second axis times the elements of the kernel, as in PyTorch.
template <class Self> class ConvLayer : public Layer<Self> {
 public:
  Tensor weight() const { return weight_; }
  /// Undefined where there is none.
  Tensor bias() const { return bias_; }

 protected:
  /// The parameters; checks nothing. `kernel` has one size per axis.
  void make_parameters(int64_t first, int64_t second, const Shape& kernel, int64_t biases, DType dtype);
  /// What the convolution keeps of the weight while no gradient is wanted.
  const PrepackedConvWeight& prepacked() const { return prepacked_; }

 private:
  PrepackedConvWeight prepacked_;
  Tensor weight_, bias_;
};

/// The constructors and the call of a convolution layer over `Sizes` axes. weight is (out, in / groups, kernel...), or
/// of a transposed one (in, out / groups, kernel...).
#define WEFT_CONV_LAYER(Name, Sizes, ...)                                                                              \
  class Name : public ConvLayer<Name> {                                                                                \
   public:                                                                                                             \
    explicit Name(const Name##Options& options);                                                                       \
    Name(int64_t in_channels, int64_t out_channels, const Sizes& kernel_size)                                          \
        : Name(Name##Options{.in_channels = in_channels, .out_channels = out_channels, .kernel_size = kernel_size}) {} \
    Tensor forward(const Tensor& x) const;                                                                             \
    Name remake() const { return Name(options_); }                                                                     \
    __VA_ARGS__                                                                                                        \
   private:                                                                                                            \
    Name##Options options_;                                                                                            \
  }

/// x (N, in, L) to (N, out, L').
WEFT_CONV_LAYER(Conv1d, Size1);
/// x (N, in, H, W) to (N, out, H', W'). forward_scaled() is conv2d_scaled() of what forward() gives.
WEFT_CONV_LAYER(Conv2d, Size2, Tensor forward_scaled(const Tensor& x, ConvScaling scaling) const;);
/// x (N, in, D, H, W) to (N, out, D', H', W').
WEFT_CONV_LAYER(Conv3d, Size3);
/// x (N, in, L) to (N, out, L'), the transpose of a convolution.
WEFT_CONV_LAYER(ConvTranspose1d, Size1);
/// x (N, in, H, W) to (N, out, H', W').
WEFT_CONV_LAYER(ConvTranspose2d, Size2);
/// x (N, in, D, H, W) to (N, out, D', H', W').
WEFT_CONV_LAYER(ConvTranspose3d, Size3);
#undef WEFT_CONV_LAYER

/// Whether layers may run x as other ops than their own: no history, Autocast, observers or hooks, and on the CPU.
bool runs_unseen(const Tensor& x);

}  // namespace weft::nn

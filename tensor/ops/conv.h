// Descriptors of convolution over one to three axes and of its gradients.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/ops/infer.h"

namespace weft {

std::string attribute_text(const Size2& value);
std::string attribute_text(const Size3& value);
std::string attribute_text(const ConvOptions& value);

/// The shape of what a transposed convolution gives; all its checks of shapes and options. `options` are those of the
/// convolution that it transposes.
Shape transposed_conv_shape(const Shape& x, const Shape& weight, const ConvOptions& options,
                            const Size3& output_padding);
/// ShapeError unless `bias` (which may be absent) holds one value for each of `filters`.
void check_conv_bias(const Operand& bias, int64_t filters);

namespace op {

/// x (N, C, [[D,] H,] W), weight (O, C / groups, [[kd,] kh,] kw), bias (O) or absent.
struct Conv {
  ConvOptions options;
  static constexpr std::string_view name = "conv";
  static constexpr std::string_view cost =
      "2 taps operations an output; a quarter of them for 3 x 3 windows of stride 1 in f32 (Convolution)";
  static constexpr Policy policy = {.accepts = kFloating, .optional = 1u << 2, .autocast = Autocasting::lower};
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const Conv&) const = default;
  Spec infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const;
};

/// relu(conv(x, weight) scale + shift + residual), relu where asked for: scale and shift (O), the residual has the
/// result's shape; each may be absent. `packed` is what ConvPrepack gave for the weight, or absent. It has no
/// gradient: conv2d_scaled() is composed where one is wanted.
struct ConvScaled {
  ConvOptions options;
  bool relu;
  int64_t packed_layout = 0;  // ConvPrepack's
  static constexpr std::string_view name = "conv_scaled";
  static constexpr Policy policy = {
      .accepts = kFloating, .numeric = 0b11111, .optional = 0b111100, .autocast = Autocasting::lower};
  void attributes(auto visit) const {
    visit("options", options), visit("relu", relu), visit("packed_layout", packed_layout);
  }
  bool operator==(const ConvScaled&) const = default;
  Spec infer(const Operand& x, const Operand& weight, const Operand& scale, const Operand& shift,
             const Operand& residual, const Operand& packed) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& scale, const Operand& shift, const Operand& residual,
           const Operand& packed, const Operand& out) const;
};

/// What a convolution computes of its weight alone, in a layout of the kernel's own. for_images() makes it.
struct ConvPrepack {
  ConvOptions options;
  Shape images;          // (N, C, H, W) of the convolution's input
  int64_t elements = 0;  // of the result; 0 where nothing is prepacked
  int64_t layout = 0;    // tells the layouts of one weight apart
  static constexpr std::string_view name = "conv_prepack";
  static constexpr Policy policy = {.accepts = only(f32)};
  void attributes(auto visit) const {
    visit("options", options), visit("images", images), visit("elements", elements), visit("layout", layout);
  }
  bool operator==(const ConvPrepack&) const = default;
  Spec infer(const Operand& weight) const;
  void cpu(const Operand& weight, const Operand& out) const;
  /// What the CPU prepacks of the weight for such images. Defined beside the kernel, called by functions alone.
  static ConvPrepack for_images(const ConvOptions& options, const Shape& images, const Operand& weight);
};

/// The gradient of x from that of the result; as an op of its own a transposed convolution.
struct ConvBackwardData {
  ConvOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "conv_backward_data";
  static constexpr std::string_view cost = "as conv";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::lower};
  void attributes(auto visit) const { visit("options", options), visit("shape", shape); }
  bool operator==(const ConvBackwardData&) const = default;
  Spec infer(const Operand& g, const Operand& weight) const;
  void cpu(const Operand& g, const Operand& weight, const Operand& out) const;
};

/// The gradient of the weight. (The bias's is a sum over axes.)
struct ConvBackwardWeights {
  ConvOptions options;
  Shape shape;      // of the weight
  Strides strides;  // of the result: dense
  static constexpr std::string_view name = "conv_backward_weights";
  static constexpr std::string_view cost = "as conv";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("options", options), visit("shape", shape), visit("strides", strides); }
  bool operator==(const ConvBackwardWeights&) const = default;
  Spec infer(const Operand& x, const Operand& g) const;
  void cpu(const Operand& x, const Operand& g, const Operand& out) const;
};

}  // namespace op
}  // namespace weft

// Descriptors of convolution over one to three axes and of its gradients.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/ops/infer.h"

namespace weft {

std::string attribute_text(const Size2& value);
std::string attribute_text(const Size3& value);
std::string attribute_text(const ConvOptions& value);

/// The shape of the result of a transposed convolution. Checks all its shapes and options. `options` are those of the
/// convolution that it transposes.
Shape transposed_conv_shape(const Shape& x, const Shape& weight, const ConvOptions& options,
                            const Size3& output_padding);
/// ShapeError unless `bias` has `filters` values or is absent.
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

/// relu(conv(x, weight) * scale + shift + residual), with relu only if `relu` is set. scale and shift are (O), the
/// residual has the result's shape; each may be absent. `packed` is the result of ConvPrepack for the weight, or
/// absent. This op has no gradient; conv2d_scaled() uses separate ops if one is needed.
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

/// Computes the kernel-specific form of a convolution's weight. for_images() creates the descriptor.
struct ConvPrepack {
  ConvOptions options;
  Shape images;          // (N, C, H, W) of the convolution's input
  int64_t elements = 0;  // number of elements of the result; 0 if the kernel prepacks nothing
  int64_t layout = 0;    // identifies the layout among those of one weight
  static constexpr std::string_view name = "conv_prepack";
  static constexpr Policy policy = {.accepts = DTypes{f32}};
  void attributes(auto visit) const {
    visit("options", options), visit("images", images), visit("elements", elements), visit("layout", layout);
  }
  bool operator==(const ConvPrepack&) const = default;
  Spec infer(const Operand& weight) const;
  void cpu(const Operand& weight, const Operand& out) const;
  /// The descriptor for inputs of shape `images` on the CPU. Defined in the kernel's file, called only by functions.
  static ConvPrepack for_images(const ConvOptions& options, const Shape& images, const Operand& weight);
};

/// The gradient of x, given that of the result. Also used as the transposed convolution.
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

/// The gradient of the weight. (The gradient of the bias is a sum over axes.)
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

// Descriptors of convolution over one to three axes and of its gradients.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/ops/infer.h"

namespace weft {

std::string attribute_text(const Pair& value);
std::string attribute_text(const ConvOptions& value);

/// The shape of what a transposed convolution gives; all its checks of shapes and options. `options` are those of the
/// convolution that it transposes.
Shape transposed_conv_shape(const Shape& x, const Shape& weight, const ConvOptions& options,
                            const Triple& output_padding);
/// ShapeError unless `bias` (which may be absent) holds one value for each of `filters`.
void check_conv_bias(const Operand& bias, int64_t filters);

namespace op {

/// x (N, C, [[D,] H,] W), weight (O, C / groups, [[kd,] kh,] kw), bias (O) or absent.
struct Conv {
  ConvOptions options;
  static constexpr std::string_view name = "conv";
  static constexpr Policy policy = {.accepts = kFloating, .optional = 1u << 2, .autocast = Autocasting::lower};
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const Conv&) const = default;
  Spec infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const;
};

/// The gradient of x from that of the result; as an op of its own a transposed convolution.
struct ConvBackwardData {
  ConvOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "conv_backward_data";
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
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("options", options), visit("shape", shape), visit("strides", strides); }
  bool operator==(const ConvBackwardWeights&) const = default;
  Spec infer(const Operand& x, const Operand& g) const;
  void cpu(const Operand& x, const Operand& g, const Operand& out) const;
};

}  // namespace op
}  // namespace weft

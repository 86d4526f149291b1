// Descriptors of 2-D convolution and of its gradients.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/ops/infer.h"

namespace weft {

std::string attribute_text(const Pair& value);
std::string attribute_text(const Conv2dOptions& value);

namespace op {

/// x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) or absent.
struct Conv2d {
  Conv2dOptions options;
  static constexpr std::string_view name = "conv2d";
  static constexpr Policy policy = {.accepts = kFloating, .optional = 1u << 2, .autocast = Autocasting::lower};
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const Conv2d&) const = default;
  Spec infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const;
};

/// The gradient of x from that of the result.
struct Conv2dBackwardData {
  Conv2dOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "conv2d_backward_data";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("options", options), visit("shape", shape); }
  bool operator==(const Conv2dBackwardData&) const = default;
  Spec infer(const Operand& g, const Operand& weight) const;
  void cpu(const Operand& g, const Operand& weight, const Operand& out) const;
};

/// The gradient of the weight. (The bias's is a sum over axes.)
struct Conv2dBackwardWeights {
  Conv2dOptions options;
  Shape shape;      // of the weight
  Strides strides;  // of the result: dense
  static constexpr std::string_view name = "conv2d_backward_weights";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("options", options), visit("shape", shape), visit("strides", strides); }
  bool operator==(const Conv2dBackwardWeights&) const = default;
  Spec infer(const Operand& x, const Operand& g) const;
  void cpu(const Operand& x, const Operand& g, const Operand& out) const;
};

}  // namespace op
}  // namespace weft

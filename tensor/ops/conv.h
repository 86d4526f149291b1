// 2-D convolution (cross-correlation, as everywhere in the field).
#pragma once

#include "tensor/apply.h"

namespace weft {

/// A pair of sizes, height and width; one number means both.
struct Pair {
  int64_t height = 0;
  int64_t width = 0;
  constexpr Pair() = default;
  constexpr Pair(int64_t both) : height(both), width(both) {}
  constexpr Pair(int64_t h, int64_t w) : height(h), width(w) {}
  bool operator==(const Pair&) const = default;
};

struct Conv2dOptions {
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;
  bool operator==(const Conv2dOptions&) const = default;
};

/// x (N, C, H, W), weight (O, C / groups, kh, kw), bias (O) or undefined; the result is (N, O, H', W') in channels-last
/// memory order. H' = (H + 2 padding - dilation (kh - 1) - 1) / stride + 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options = {});

/// The gradients of conv2d as ops of their own: of its input (which had `input_shape`) and of its weight. The latter comes
/// in the memory order of `weight` where that is dense, else row-major.
Tensor conv2d_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape,
                            const Conv2dOptions& options);
Tensor conv2d_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const Conv2dOptions& options);

std::string attribute_text(const Pair& value);
std::string attribute_text(const Conv2dOptions& value);

namespace op {

struct Conv2d {
  Conv2dOptions options;
  static constexpr std::string_view name = "conv2d";
  static constexpr uint32_t optional_inputs = 1u << 2;  // the bias
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const Conv2d&) const = default;
  Spec infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const;
  void run(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& out) const;
};

struct Conv2dBackwardData {
  Conv2dOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "conv2d_backward_data";
  void attributes(auto visit) const { visit("options", options), visit("shape", shape); }
  bool operator==(const Conv2dBackwardData&) const = default;
  Spec infer(const Tensor& g, const Tensor& weight) const;
  void run(const Tensor& g, const Tensor& weight, Tensor& out) const;
};

struct Conv2dBackwardWeights {
  Conv2dOptions options;
  Shape shape;      // of the weight
  Strides strides;  // of the result: dense
  static constexpr std::string_view name = "conv2d_backward_weights";
  void attributes(auto visit) const { visit("options", options), visit("shape", shape), visit("strides", strides); }
  bool operator==(const Conv2dBackwardWeights&) const = default;
  Spec infer(const Tensor& x, const Tensor& g) const;
  void run(const Tensor& x, const Tensor& g, Tensor& out) const;
};

}  // namespace op
}  // namespace weft

// 2-D pooling.
#pragma once

#include "tensor/ops/conv.h"

namespace weft {

struct Pool2dOptions {
  Pair kernel_size = 0;
  std::optional<Pair> stride = std::nullopt;  // the kernel size where absent
  Pair padding = 0;
  Pair dilation = 1;              // max_pool2d only
  bool count_include_pad = true;  // avg_pool2d only: whether padding counts in what a mean divides by
  bool operator==(const Pool2dOptions&) const = default;
};

/// The maximum of each window of x (N, C, H, W); padding counts as -inf; NaN propagates; the first maximum of a window
/// gets the gradient.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
/// The mean of each window. Padding counts as zeros that are divided by, unless count_include_pad is false.
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);

/// The gradient of max_pool2d from the places of its maxima (its second result), for an input of `input_shape`.
Tensor max_pool2d_backward(const Tensor& g, const Tensor& places, const Shape& input_shape,
                           const Pool2dOptions& options);
/// The values of `x` at those places.
Tensor max_pool2d_gather(const Tensor& x, const Tensor& places, const Pool2dOptions& options);
/// The gradient of avg_pool2d for an input of `input_shape`.
Tensor avg_pool2d_backward(const Tensor& g, const Shape& input_shape, const Pool2dOptions& options);

std::string attribute_text(const Pool2dOptions& value);

namespace op {

/// The maxima, and where in its window each one is (u8 or i32).
struct MaxPool2d {
  Pool2dOptions options;
  static constexpr std::string_view name = "max_pool2d";
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const MaxPool2d&) const = default;
  std::array<Spec, 2> infer(const Tensor& x) const;
  void run(const Tensor& x, std::array<Tensor, 2>& out) const;
};

struct MaxPool2dBackward {
  Pool2dOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "max_pool2d_backward";
  void attributes(auto visit) const { visit("options", options), visit("shape", shape); }
  bool operator==(const MaxPool2dBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& places) const;
  void run(const Tensor& g, const Tensor& places, Tensor& out) const;
};

struct MaxPool2dGather {
  Pool2dOptions options;
  static constexpr std::string_view name = "max_pool2d_gather";
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const MaxPool2dGather&) const = default;
  Spec infer(const Tensor& x, const Tensor& places) const;
  void run(const Tensor& x, const Tensor& places, Tensor& out) const;
};

struct AvgPool2d {
  Pool2dOptions options;
  static constexpr std::string_view name = "avg_pool2d";
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const AvgPool2d&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

struct AvgPool2dBackward {
  Pool2dOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "avg_pool2d_backward";
  void attributes(auto visit) const { visit("options", options), visit("shape", shape); }
  bool operator==(const AvgPool2dBackward&) const = default;
  Spec infer(const Tensor& g) const;
  void run(const Tensor& g, Tensor& out) const;
};

}  // namespace op
}  // namespace weft

// Descriptors of 2-D pooling of (N, C, H, W) and of its gradients, and of pooling with windows at random positions.
#pragma once

#include <array>
#include <vector>

#include "tensor/core/pool_options.h"
#include "tensor/ops/conv.h"

namespace weft {

std::string attribute_text(const Pool2dOptions& value);

/// The shape of the result of pooling. Checks the options, with the errors of the public functions.
Shape pooled_shape(const Shape& x, const Pool2dOptions& options);
/// The dtype of the indices of maxima: u8 if it can number the window's elements, else i32. ShapeError if i32 cannot.
DType max_pool2d_index_dtype(const Pool2dOptions& options);

/// Whether every pixel of an axis (0: height, 1: width) lies in exactly one window.
inline bool windows_tile(const Pool2dOptions& o, int axis, int64_t inputs, int64_t outputs) {
  return o.step()[axis] == o.kernel_size[axis] && o.padding[axis] == 0 && o.dilation[axis] == 1 &&
         inputs == outputs * o.kernel_size[axis];
}

/// The windows of a max pool: those of options, or those of an adaptive pool, which share each axis (shared_range).
struct MaxWindows {
  Pool2dOptions options;  // of an adaptive pool the size of the largest window, or more, and the defaults
  Size2 shares = 0;       // of an adaptive pool: the size of its result
  MaxWindows(const Pool2dOptions& o = {}) : options(o) {}
  MaxWindows(const Shape& x, const Size2& result);
  bool is_adaptive() const { return shares != Size2(0); }
  /// Where the windows of an axis (0: height, 1: width) begin.
  std::vector<int64_t> starts(int axis, int64_t inputs, int64_t outputs) const;
  bool operator==(const MaxWindows&) const = default;
};
std::string attribute_text(const MaxWindows& value);
Shape pooled_shape(const Shape& x, const MaxWindows& windows);
inline bool windows_tile(const MaxWindows& w, int axis, int64_t inputs, int64_t outputs) {
  return w.is_adaptive() ? inputs % outputs == 0 : windows_tile(w.options, axis, inputs, outputs);
}

namespace op {

/// The maxima, and the position of each within its window (u8 or i32): row * kernel width + column, or the largest
/// value of that dtype if the whole window is padding. Only gradients and max_pool2d_with_indices read the positions:
/// they have shape [0] unless `with_indices`.
struct MaxPool2d {
  MaxWindows windows;
  bool with_indices = true;
  static constexpr std::string_view name = "max_pool2d";
  static constexpr std::string_view cost = "a comparison a tap";
  static constexpr Policy policy = {.accepts = kFloating};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("windows", windows), visit("with_indices", with_indices); }
  bool operator==(const MaxPool2d&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out, const Operand& indices) const;
};

/// For each pixel, the sum of g over the windows whose maximum is at that pixel.
struct MaxPool2dBackward {
  MaxWindows windows;
  Shape shape;  // of the input
  static constexpr std::string_view name = "max_pool2d_backward";
  static constexpr std::string_view cost = "a tap an output";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b01};
  void attributes(auto visit) const { visit("windows", windows), visit("shape", shape); }
  bool operator==(const MaxPool2dBackward&) const = default;
  Spec infer(const Operand& g, const Operand& indices) const;
  void cpu(const Operand& g, const Operand& indices, const Operand& out) const;
};

/// For each window, the element of x at its index; 0 if the whole window is padding.
struct MaxPool2dGather {
  MaxWindows windows;
  static constexpr std::string_view name = "max_pool2d_gather";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b01};
  void attributes(auto visit) const { visit("windows", windows); }
  bool operator==(const MaxPool2dGather&) const = default;
  Spec infer(const Operand& x, const Operand& indices) const;
  void cpu(const Operand& x, const Operand& indices, const Operand& out) const;
};

/// The maxima of windows at random positions of x (N, C, D, H, W), and the row-major index of each within (D, H, W),
/// i64. samples (N, C, 3), f32 or f64, determine where windows begin (functions/fractional_pool.h).
struct FractionalMaxPool {
  Size3 kernel;
  Size3 size;  // of the result
  static constexpr std::string_view name = "fractional_max_pool";
  static constexpr std::string_view cost = "a comparison a tap";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b01};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("kernel", kernel), visit("size", size); }
  bool operator==(const FractionalMaxPool&) const = default;
  std::array<Spec, 2> infer(const Operand& x, const Operand& samples) const;
  void cpu(const Operand& x, const Operand& samples, const Operand& out, const Operand& indices) const;
};

/// The sum of each window divided by the window's size; padding counts as zeros.
struct AvgPool2d {
  Pool2dOptions options;
  static constexpr std::string_view name = "avg_pool2d";
  static constexpr std::string_view cost = "an addition a tap";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("options", options); }
  bool operator==(const AvgPool2d&) const = default;
  Spec infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& out) const;
};

/// For each pixel, the sum over the windows that contain it of g divided by the window's size.
struct AvgPool2dBackward {
  Pool2dOptions options;
  Shape shape;  // of the input
  static constexpr std::string_view name = "avg_pool2d_backward";
  static constexpr std::string_view cost = "an addition a tap";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("options", options), visit("shape", shape); }
  bool operator==(const AvgPool2dBackward&) const = default;
  Spec infer(const Operand& g) const;
  void cpu(const Operand& g, const Operand& out) const;
};

}  // namespace op
}  // namespace weft

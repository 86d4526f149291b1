// Descriptors of batch normalization, relu and max-pooling as one op.
#pragma once

#include <array>

#include "tensor/ops/pool.h"

namespace weft {

/// Whether the op supports x and these windows: x is floating, not empty and channels-last in memory, and windows of at
/// most 254 elements tile the image.
bool batch_norm_pool_applies(const Operand& x, const Pool2dOptions& options);

namespace op {

/// y, mean and rstd for each channel, the indices of the maxima (u8; 255 where relu gave 0 for the whole window), and
/// var for each channel.
/// batch_norm_pool_applies must be true for x (N, C, H, W). weight and bias are (C), of one dtype, or absent.
/// Statistics of a 16-bit x are f32.
struct BatchNormReluMaxPool2d {
  double eps;
  Pool2dOptions options;
  static constexpr std::string_view name = "batch_norm_relu_max_pool2d";
  static constexpr std::string_view cost = "two passes";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b110};
  static constexpr int outputs = 5;
  void attributes(auto visit) const { visit("eps", eps), visit("options", options); }
  bool operator==(const BatchNormReluMaxPool2d&) const = default;
  std::array<Spec, 5> infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y, const Operand& mean,
           const Operand& rstd, const Operand& indices, const Operand& var) const;
};

/// The gradients of x, weight and bias; x and indices are channels-last. An absent weight counts as 1. The gradients of
/// weight and bias have the weight's dtype, or x's if the weight is absent.
struct BatchNormReluMaxPool2dBackward {
  double eps;
  Pool2dOptions options;
  static constexpr std::string_view name = "batch_norm_relu_max_pool2d_backward";
  static constexpr std::string_view cost = "two passes";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b101, .optional = 1u << 3};  // g and x
  static constexpr int outputs = 3;
  void attributes(auto visit) const { visit("eps", eps), visit("options", options); }
  bool operator==(const BatchNormReluMaxPool2dBackward&) const = default;
  std::array<Spec, 3> infer(const Operand& g, const Operand& indices, const Operand& x, const Operand& weight,
                            const Operand& mean, const Operand& rstd) const;
  void cpu(const Operand& g, const Operand& indices, const Operand& x, const Operand& weight, const Operand& mean,
           const Operand& rstd, const Operand& dx, const Operand& dweight, const Operand& dbias) const;
};

}  // namespace op
}  // namespace weft

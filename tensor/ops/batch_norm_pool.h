// Descriptors of batch normalisation, relu and max-pooling as one op.
#pragma once

#include <array>

#include "tensor/ops/pool.h"

namespace weft {

/// Whether the op takes x, by its layout and dtype, with these windows: they tile the image, and channels are
/// neighbours.
bool batch_norm_pool_applies(const Operand& x, const Pool2dOptions& options);

namespace op {

/// y, and per channel mean and rstd, and the indices of the maxima (u8; 255 where relu let nothing through). x is
/// (N, C, H, W) and one that batch_norm_pool_applies to; weight and bias are (C), of one dtype, or absent. The
/// statistics of an x in 16 bits are f32.
struct BatchNormReluMaxPool2d {
  double eps;
  Pool2dOptions options;
  static constexpr std::string_view name = "batch_norm_relu_max_pool2d";
  static constexpr std::string_view cost = "two passes";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b110};
  static constexpr int outputs = 4;
  void attributes(auto visit) const { visit("eps", eps), visit("options", options); }
  bool operator==(const BatchNormReluMaxPool2d&) const = default;
  std::array<Spec, 4> infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y, const Operand& mean,
           const Operand& rstd, const Operand& indices) const;
};

/// The gradients of x, weight and bias (as if the weight were 1 where there is none). Those of weight and bias have the
/// weight's dtype, else x's.
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

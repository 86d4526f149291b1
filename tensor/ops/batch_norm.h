// Descriptors of batch normalization (arXiv 1502.03167) of x (N, C) or (N, C, ...), and of its gradient. Statistics are
// for each channel (axis 1) over all other axes. Per-channel operands have shape (C) and any floating dtype. Statistics
// of a 16-bit x are f32. A gradient has the dtype of its tensor (x's dtype if that tensor is absent).
#pragma once

#include <array>
#include <initializer_list>

#include "tensor/ops/infer.h"

namespace weft::op {

/// The shape (C) of per-channel operands of x. ShapeError if x has no channel axis, or a given operand has another
/// shape.
Shape check_channels(const Operand& x, std::initializer_list<const Operand*> per_channel);
/// The dtype of the statistics of an x of this dtype: f64 for f64, else f32.
inline DType statistics_dtype(DType x) { return x == f64 ? f64 : f32; }
/// The dtype of the gradient of `parameter`; x's dtype if the parameter is absent.
inline DType gradient_dtype(const Operand& parameter, const Operand& x) {
  return parameter.defined() ? parameter.dtype : x.dtype;
}
/// check_channels(), and also ShapeError if a channel has only one value (its variance is undefined), and Error unless
/// eps is positive (a channel of equal values would be divided by 0).
Shape check_batch(const Operand& x, std::initializer_list<const Operand*> per_channel, double eps);

/// y, and for each channel mean, rstd = 1 / sqrt(var + eps), and var, which is not known from rstd where it is far
/// smaller than eps. With `relu`, relu is applied to y.
struct BatchNorm {
  double eps;
  bool relu;
  static constexpr std::string_view name = "batch_norm";
  static constexpr std::string_view cost = "two passes: moments, then values";
  static constexpr int outputs = 4;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b110};
  void attributes(auto visit) const { visit("eps", eps), visit("relu", relu); }
  bool operator==(const BatchNorm&) const = default;
  std::array<Spec, 4> infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y, const Operand& mean,
           const Operand& rstd, const Operand& var) const;
};

/// The gradients of x, weight and bias. An absent weight counts as 1. With `relu`, g counts only where y, recomputed
/// from x, is above 0; only then the bias is read. Gradients whose bit (0, 1, 2) is not in `wanted` are not computed
/// and have shape [0].
struct BatchNormBackward {
  double eps;
  bool relu;
  int wanted = 0b111;
  static constexpr std::string_view name = "batch_norm_backward";
  static constexpr std::string_view cost = "two passes";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b11, .optional = 0b1100};  // weight and bias
  void attributes(auto visit) const { visit("eps", eps), visit("relu", relu), visit("wanted", wanted); }
  bool operator==(const BatchNormBackward&) const = default;
  std::array<Spec, 3> infer(const Operand& g, const Operand& x, const Operand& weight, const Operand& bias,
                            const Operand& mean, const Operand& rstd) const;
  void cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& bias, const Operand& mean,
           const Operand& rstd, const Operand& dx, const Operand& dweight, const Operand& dbias) const;
};

/// (x - mean) / sqrt(var + eps) * weight + bias with given statistics, or with `relu`, relu of it.
struct BatchNormInference {
  double eps;
  bool relu = false;
  static constexpr std::string_view name = "batch_norm_inference";
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b11000};
  void attributes(auto visit) const { visit("eps", eps), visit("relu", relu); }
  bool operator==(const BatchNormInference&) const = default;
  Spec infer(const Operand& x, const Operand& mean, const Operand& var, const Operand& weight,
             const Operand& bias) const;
  void cpu(const Operand& x, const Operand& mean, const Operand& var, const Operand& weight, const Operand& bias,
           const Operand& out) const;
};

}  // namespace weft::op

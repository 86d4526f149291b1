// Descriptors of group normalization (arXiv 1803.08494) of x (N, C, ...), and of its gradient. Statistics are over each
// group of consecutive channels of each image.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// (x - mean) * rstd * weight + bias, and the statistics mean and rstd = 1 / sqrt(var + eps), both (N, groups). The
/// variance is biased. weight and bias (C) are optional and have a common floating dtype. Statistics of a 16-bit x are
/// f32.
struct GroupNorm {
  int64_t groups;
  double eps;
  static constexpr std::string_view name = "group_norm";
  static constexpr std::string_view cost = "two passes where a group is not in the cache";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b110};
  void attributes(auto visit) const { visit("groups", groups), visit("eps", eps); }
  bool operator==(const GroupNorm&) const = default;
  std::array<Spec, 3> infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y, const Operand& mean,
           const Operand& rstd) const;
};

/// The gradients of x, weight and bias. An absent weight counts as 1. Gradients whose bit (0, 1, 2) is not in `wanted`
/// are not computed and have shape [0].
struct GroupNormBackward {
  int64_t groups;
  double eps;
  int wanted = 0b111;
  static constexpr std::string_view name = "group_norm_backward";
  static constexpr std::string_view cost = "two passes where a group is not in the cache";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b11, .optional = 1u << 2};  // weight
  void attributes(auto visit) const { visit("groups", groups), visit("eps", eps), visit("wanted", wanted); }
  bool operator==(const GroupNormBackward&) const = default;
  std::array<Spec, 3> infer(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean,
                            const Operand& rstd) const;
  void cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean, const Operand& rstd,
           const Operand& dx, const Operand& dweight, const Operand& dbias) const;
};

}  // namespace weft::op

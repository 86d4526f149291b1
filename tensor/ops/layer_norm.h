// Descriptors of layer normalization (arXiv 1607.06450), of RMS normalization (arXiv 1910.07467), and of their
// gradient.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// (x - mean) * rstd * weight + bias over the last `axes` axes, and the statistics mean and rstd = 1 / sqrt(var + eps)
/// of each row (with the reduced axes at size 1). The variance is biased, and computed relative to a value near the
/// mean. weight and bias (optional) have the shape of those axes and a common floating dtype. Statistics of a 16-bit x
/// are f32. The kernel does not compute statistics whose operand is undefined. With `rms` the mean counts as 0.
struct LayerNorm {
  int64_t axes;
  double eps;
  bool rms = false;
  static constexpr std::string_view name = "layer_norm";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b1, .optional = 0b110};
  void attributes(auto visit) const { visit("axes", axes), visit("eps", eps), visit("rms", rms); }
  bool operator==(const LayerNorm&) const = default;
  std::array<Spec, 3> infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& y, const Operand& mean,
           const Operand& rstd) const;
};

/// The gradients of x, weight and bias. An absent weight counts as 1. Gradients whose bit (0, 1, 2) is not in `wanted`
/// are not computed and have shape [0].
struct LayerNormBackward {
  int64_t axes;
  double eps;
  int wanted = 0b111;
  bool rms = false;
  static constexpr std::string_view name = "layer_norm_backward";
  static constexpr int outputs = 3;
  static constexpr Policy policy = {.accepts = kFloating, .numeric = 0b11, .optional = 1u << 2};  // weight
  void attributes(auto visit) const {
    visit("axes", axes), visit("eps", eps), visit("wanted", wanted), visit("rms", rms);
  }
  bool operator==(const LayerNormBackward&) const = default;
  std::array<Spec, 3> infer(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean,
                            const Operand& rstd) const;
  void cpu(const Operand& g, const Operand& x, const Operand& weight, const Operand& mean, const Operand& rstd,
           const Operand& dx, const Operand& dweight, const Operand& dbias) const;
};

}  // namespace weft::op

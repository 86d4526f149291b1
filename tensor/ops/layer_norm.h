// Layer normalisation (arXiv 1607.06450).
#pragma once

#include "tensor/apply.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias over the last `normalized_axes` axes; weight and bias (optional) have
/// their shape. The variance is biased and two-pass.
Tensor layer_norm(const Tensor& x, int64_t normalized_axes, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

/// The gradients of x, weight and bias from the statistics that op::LayerNorm returns; those whose bit (0, 1, 2) is not
/// in `wanted` are not computed and have shape [0].
std::array<Tensor, 3> layer_norm_backward(const Tensor& g, const Tensor& x, int64_t normalized_axes,
                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd, double eps,
                                          int wanted = 0b111);

namespace op {

/// y, and per row mean and rstd = 1 / sqrt(var + eps) (kept at size 1).
struct LayerNorm {
  int64_t axes;
  double eps;
  static constexpr std::string_view name = "layer_norm";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 0b110;  // weight and bias
  void attributes(auto visit) const { visit("axes", axes), visit("eps", eps); }
  bool operator==(const LayerNorm&) const = default;
  std::array<Spec, 3> infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const;
  void run(const Tensor& x, const Tensor& weight, const Tensor& bias, std::array<Tensor, 3>& out) const;
};

/// The gradients of x, weight and bias (as if the weight were 1 where there is none); see layer_norm_backward.
struct LayerNormBackward {
  int64_t axes;
  double eps;
  int wanted = 0b111;
  static constexpr std::string_view name = "layer_norm_backward";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 1u << 2;  // weight
  void attributes(auto visit) const { visit("axes", axes), visit("eps", eps), visit("wanted", wanted); }
  bool operator==(const LayerNormBackward&) const = default;
  std::array<Spec, 3> infer(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& mean,
                            const Tensor& rstd) const;
  void run(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& mean, const Tensor& rstd,
           std::array<Tensor, 3>& out) const;
};

}  // namespace op
}  // namespace weft

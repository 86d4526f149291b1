// Batch normalisation (arXiv 1502.03167).
#pragma once

#include "tensor/apply.h"

namespace weft {

struct BatchNormResult {
  Tensor y;
  Tensor mean;  // (C), of this batch, without history
  Tensor rstd;  // (C), 1 / sqrt(biased variance + eps), without history
};

/// Over all axes but 1 of x (N, C) or (N, C, ...), with the batch's own statistics; weight and bias are (C), optional.
/// The op is pure: nn::BatchNorm updates the running statistics. Error where a channel has one value.
BatchNormResult batch_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// The same with y = relu(y) in one pass over memory.
BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// With given statistics: (x - mean) / sqrt(var + eps) * weight + bias.
Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight = {},
                            const Tensor& bias = {}, double eps = 1e-5);

/// The gradients of x, weight and bias of batch_norm; of batch_norm_relu where `relu`, which alone reads the bias.
/// Those whose bit (0, 1, 2) is not in `wanted` are not computed and have shape [0].
std::array<Tensor, 3> batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& mean, const Tensor& rstd, double eps, bool relu,
                                          int wanted = 0b111);

namespace detail {
/// The shape (C) of per-channel tensors of x; checks x, and that those given have it and x's dtype.
Shape check_channels(const Tensor& x, std::initializer_list<const Tensor*> per_channel);
/// The same, and that every channel has two values or more, which a variance takes.
Shape check_batch(const Tensor& x, std::initializer_list<const Tensor*> per_channel);
}  // namespace detail

namespace op {

/// y, and per channel mean and rstd = 1 / sqrt(var + eps).
struct BatchNorm {
  double eps;
  bool relu;  // of y
  static constexpr std::string_view name = "batch_norm";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 0b110;  // weight and bias
  void attributes(auto visit) const { visit("eps", eps), visit("relu", relu); }
  bool operator==(const BatchNorm&) const = default;
  std::array<Spec, 3> infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const;
  void run(const Tensor& x, const Tensor& weight, const Tensor& bias, std::array<Tensor, 3>& out) const;
};

/// The gradients of x, weight and bias (as if the weight were 1 where there is none); see batch_norm_backward.
struct BatchNormBackward {
  double eps;
  bool relu;
  int wanted = 0b111;
  static constexpr std::string_view name = "batch_norm_backward";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 0b1100;  // weight and bias
  void attributes(auto visit) const { visit("eps", eps), visit("relu", relu), visit("wanted", wanted); }
  bool operator==(const BatchNormBackward&) const = default;
  std::array<Spec, 3> infer(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                            const Tensor& mean, const Tensor& rstd) const;
  void run(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
           const Tensor& rstd, std::array<Tensor, 3>& out) const;
};

/// With given statistics (see batch_norm_inference).
struct BatchNormInference {
  double eps;
  static constexpr std::string_view name = "batch_norm_inference";
  static constexpr uint32_t optional_inputs = 0b11000;  // weight and bias
  void attributes(auto visit) const { visit("eps", eps); }
  bool operator==(const BatchNormInference&) const = default;
  Spec infer(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight, const Tensor& bias) const;
  void run(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight, const Tensor& bias,
           Tensor& out) const;
};

}  // namespace op
}  // namespace weft

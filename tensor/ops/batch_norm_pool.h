// Batch normalisation, relu and max-pooling as one op: what comes between two convolutions of a network for images.
#pragma once

#include "tensor/ops/batch_norm.h"
#include "tensor/ops/pool.h"

namespace weft {

/// max_pool2d(relu(batch_norm(x).y)) of x (N, C, H, W), and the statistics. In one pass over memory where windows tile the
/// image and x is f32 or f64 and lies channels-last (as convolutions leave it); else one op after the other.
BatchNormResult batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                           const Pool2dOptions& options, double eps = 1e-5);

/// The gradients of x, weight and bias, from the places that the op returned.
std::array<Tensor, 3> batch_norm_relu_max_pool2d_backward(const Tensor& g, const Tensor& places, const Tensor& x,
                                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                          const Pool2dOptions& options, double eps);

namespace op {

/// y, and per channel mean and rstd, and the places of the maxima (u8; 255 where relu let nothing through).
struct BatchNormReluMaxPool2d {
  double eps;
  Pool2dOptions options;
  static constexpr std::string_view name = "batch_norm_relu_max_pool2d";
  static constexpr int outputs = 4;
  static constexpr uint32_t optional_inputs = 0b110;  // weight and bias
  void attributes(auto visit) const { visit("eps", eps), visit("options", options); }
  bool operator==(const BatchNormReluMaxPool2d&) const = default;
  std::array<Spec, 4> infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const;
  void run(const Tensor& x, const Tensor& weight, const Tensor& bias, std::array<Tensor, 4>& out) const;
};

/// The gradients of x, weight and bias (as if the weight were 1 where there is none).
struct BatchNormReluMaxPool2dBackward {
  double eps;
  Pool2dOptions options;
  static constexpr std::string_view name = "batch_norm_relu_max_pool2d_backward";
  static constexpr int outputs = 3;
  static constexpr uint32_t optional_inputs = 1u << 3;  // weight
  void attributes(auto visit) const { visit("eps", eps), visit("options", options); }
  bool operator==(const BatchNormReluMaxPool2dBackward&) const = default;
  std::array<Spec, 3> infer(const Tensor& g, const Tensor& places, const Tensor& x, const Tensor& weight,
                            const Tensor& mean, const Tensor& rstd) const;
  void run(const Tensor& g, const Tensor& places, const Tensor& x, const Tensor& weight, const Tensor& mean,
           const Tensor& rstd, std::array<Tensor, 3>& out) const;
};

}  // namespace op
}  // namespace weft

// Softmax and log-softmax.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// e^x / sum(e^x) along `axis`, shifted by the maximum. A row of -inf gives NaN (as in PyTorch).
Tensor softmax(const Tensor& x, int64_t axis);
/// log(softmax(x)), never above 0.
Tensor log_softmax(const Tensor& x, int64_t axis);

/// The gradients of both from their results: y (g - sum(g y)) and g - e^y sum(g).
Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t axis);
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t axis);

namespace op {

/// Rows along `axis` become positive and sum to 1.
struct Softmax {
  int64_t axis;
  static constexpr std::string_view name = "softmax";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Softmax&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

/// The logarithm of softmax.
struct LogSoftmax {
  int64_t axis;
  static constexpr std::string_view name = "log_softmax";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const LogSoftmax&) const = default;
  Spec infer(const Tensor& x) const;
  void run(const Tensor& x, Tensor& out) const;
};

/// The gradient of softmax from its result y.
struct SoftmaxBackward {
  int64_t axis;
  static constexpr std::string_view name = "softmax_backward";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const SoftmaxBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& y) const;
  void run(const Tensor& g, const Tensor& y, Tensor& out) const;
};

/// The gradient of log_softmax from its result y.
struct LogSoftmaxBackward {
  int64_t axis;
  static constexpr std::string_view name = "log_softmax_backward";
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const LogSoftmaxBackward&) const = default;
  Spec infer(const Tensor& g, const Tensor& y) const;
  void run(const Tensor& g, const Tensor& y, Tensor& out) const;
};

}  // namespace op
}  // namespace weft

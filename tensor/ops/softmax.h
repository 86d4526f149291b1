// Descriptors of softmax, log-softmax and their gradients.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Rows along `axis` become positive and sum to 1.
struct Softmax {
  int64_t axis;
  static constexpr std::string_view name = "softmax";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Softmax&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// log(softmax(x)), computed directly, without the softmax.
struct LogSoftmax {
  int64_t axis;
  static constexpr std::string_view name = "log_softmax";
  static constexpr Policy policy = {.accepts = kFloating, .autocast = Autocasting::full};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const LogSoftmax&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// The gradient of softmax, given its result y: y (g - sum(g y)).
struct SoftmaxBackward {
  int64_t axis;
  static constexpr std::string_view name = "softmax_backward";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const SoftmaxBackward&) const = default;
  Spec infer(const Operand& g, const Operand& y) const { return check_same_shape(g, y), spec_like(y); }
  void cpu(const Operand& g, const Operand& y, const Operand& out) const;
};

/// The gradient of log_softmax, given its result y: g - e^y sum(g).
struct LogSoftmaxBackward {
  int64_t axis;
  static constexpr std::string_view name = "log_softmax_backward";
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const LogSoftmaxBackward&) const = default;
  Spec infer(const Operand& g, const Operand& y) const { return check_same_shape(g, y), spec_like(y); }
  void cpu(const Operand& g, const Operand& y, const Operand& out) const;
};

}  // namespace weft::op

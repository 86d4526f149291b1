// Descriptors of the gradients of element-wise functions in one pass.
#pragma once

#include <limits>

#include "tensor/ops/infer.h"

namespace weft::op {

/// The base: a gradient g, and the function's input or result of the same shape and dtype. The result has the memory
/// order of the second operand.
struct ActivationBackward {
  static constexpr Policy policy = {.accepts = kFloating};
  void attributes(auto) const {}
  bool operator==(const ActivationBackward&) const = default;
  Spec infer(const Operand& g, const Operand& x) const;
};

#define WEFT_BACKWARD(Op, function)                                         \
  struct Op : ActivationBackward {                                          \
    static constexpr std::string_view name = #function;                     \
    void cpu(const Operand& g, const Operand& x, const Operand& out) const; \
  };
#include "tensor/ops/activation_backward.inc"
#undef WEFT_BACKWARD

/// g gelu'(x)
struct GeluBackward : ActivationBackward {
  bool tanh_form = false;
  static constexpr std::string_view name = "gelu_backward";
  void attributes(auto visit) const { visit("tanh_form", tanh_form); }
  bool operator==(const GeluBackward&) const = default;
  void cpu(const Operand& g, const Operand& x, const Operand& out) const;
};

/// g times the derivative of elu with the attributes of op::Elu at x.
struct EluBackward : ActivationBackward {
  double alpha = 1;
  double scale = 1;
  double input_scale = 1;
  static constexpr std::string_view name = "elu_backward";
  void attributes(auto visit) const { visit("alpha", alpha), visit("scale", scale), visit("input_scale", input_scale); }
  bool operator==(const EluBackward&) const = default;
  void cpu(const Operand& g, const Operand& x, const Operand& out) const;
};

/// The slopes of a function of straight pieces: `inside` where x lies in [low, high], `outside` elsewhere and where x
/// is NaN.
struct Slopes {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open = false;  // the bounds themselves are outside, but an infinite one is none
  double inside = 1;
  double outside = 0;
  bool operator==(const Slopes&) const = default;
};
/// The gradient of functions of straight pieces (clip, leaky_relu, hardtanh ...): g times the slope at x, but 0 for a
/// slope of 0 whatever g is.
struct PiecewiseBackward : ActivationBackward {
  Slopes slopes;
  static constexpr std::string_view name = "piecewise_backward";
  void attributes(auto visit) const {
    visit("low", slopes.low), visit("high", slopes.high), visit("open", slopes.open);
    visit("inside", slopes.inside), visit("outside", slopes.outside);
  }
  bool operator==(const PiecewiseBackward&) const = default;
  void cpu(const Operand& g, const Operand& x, const Operand& out) const;
};

}  // namespace weft::op

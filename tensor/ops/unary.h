// Descriptors of element-wise functions of one tensor.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Element-wise functions keep the shape and the memory order.
struct Elementwise {
  void attributes(auto) const {}
  bool operator==(const Elementwise&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
};

inline constexpr Policy kKeepsDType = {.accepts = kNumbers};
/// Integers and bool become f32.
inline constexpr Policy kToFloating = {.accepts = kFloating, .widens_integers = true};
/// The same, and in f32 under autocast.
inline constexpr Policy kDelicate = {.accepts = kFloating, .widens_integers = true, .autocast = Autocasting::full};

/// Integers and bool.
inline constexpr Policy kBits = {.accepts = kIntegers | only(boolean)};

/// What a row of unary.inc, special.inc and activation.inc declares here.
#define WEFT_UNARY_DESCRIPTOR(Op, function, rules)        \
  struct Op : Elementwise {                               \
    static constexpr std::string_view name = #function;   \
    static constexpr Policy policy = rules;               \
    void cpu(const Operand& x, const Operand& out) const; \
  };
#define WEFT_UNARY WEFT_UNARY_DESCRIPTOR
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

/// x where x > 0, else slope x.
struct LeakyRelu {
  double slope;
  static constexpr std::string_view name = "leaky_relu";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("slope", slope); }
  bool operator==(const LeakyRelu&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// gelu; `tanh_form` chooses the approximation.
struct GeluOp {
  bool tanh_form;
  static constexpr std::string_view name = "gelu";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("tanh_form", tanh_form); }
  bool operator==(const GeluOp&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// x limited to [min, max], either may be absent.
struct Clip {
  std::optional<Scalar> min;
  std::optional<Scalar> max;
  static constexpr std::string_view name = "clip";
  static constexpr Policy policy = kKeepsDType;
  void attributes(auto visit) const { visit("min", min), visit("max", max); }
  bool operator==(const Clip&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// NaN and the infinities replaced; an infinity without a replacement becomes the largest (lowest) value of the dtype.
struct NanToNum {
  double nan;
  std::optional<Scalar> above;  // of inf
  std::optional<Scalar> below;  // of -inf
  static constexpr std::string_view name = "nan_to_num";
  static constexpr Policy policy = kKeepsDType;
  void attributes(auto visit) const { visit("nan", nan), visit("above", above), visit("below", below); }
  bool operator==(const NanToNum&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// Gradients of activations in one pass, in the memory order of the activation's operand.
struct ActivationBackward {
  static constexpr Policy policy = {.accepts = kFloating};
  Spec infer(const Operand& g, const Operand& x) const;
};
/// g gelu'(x)
struct GeluBackward : ActivationBackward {
  bool tanh_form = false;
  GeluBackward(bool form) : tanh_form(form) {}
  static constexpr std::string_view name = "gelu_backward";
  void attributes(auto visit) const { visit("tanh_form", tanh_form); }
  bool operator==(const GeluBackward& other) const { return tanh_form == other.tanh_form; }
  void cpu(const Operand& g, const Operand& x, const Operand& out) const;
};
/// g where y > 0 (or NaN), else 0: the gradient of relu from its result.
struct ReluBackward : ActivationBackward {
  static constexpr std::string_view name = "relu_backward";
  void attributes(auto) const {}
  bool operator==(const ReluBackward&) const { return true; }
  void cpu(const Operand& g, const Operand& y, const Operand& out) const;
};

}  // namespace weft::op

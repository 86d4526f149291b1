// Descriptors of element-wise functions of one tensor.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// The base of element-wise functions. The result has the shape and memory order of x.
struct Elementwise {
  void attributes(auto) const {}
  bool operator==(const Elementwise&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
};

inline constexpr Policy kKeepsDType = {.accepts = kNumbers};
/// Takes floating dtypes; integers and bool are cast to f32.
inline constexpr Policy kToFloating = {.accepts = kFloating, .widens_integers = true};
/// The same, and computed in f32 under autocast.
inline constexpr Policy kDelicate = {.accepts = kFloating, .widens_integers = true, .autocast = Autocasting::full};

/// Takes integers and bool.
inline constexpr Policy kBits = {.accepts = kIntegers | DTypes{boolean}};

/// The descriptor that a row of unary.inc, special.inc and activation.inc expands to.
#define WEFT_UNARY_DESCRIPTOR(Op, function, rules)        \
  struct Op : Elementwise {                               \
    static constexpr std::string_view name = #function;   \
    static constexpr Policy policy = rules;               \
    void cpu(const Operand& x, const Operand& out) const; \
  };
#define WEFT_UNARY WEFT_UNARY_DESCRIPTOR
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

/// x where x > 0, else slope * x.
struct LeakyRelu {
  double slope;
  static constexpr std::string_view name = "leaky_relu";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("slope", slope); }
  bool operator==(const LeakyRelu&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// gelu; `tanh_form` selects the tanh approximation.
struct GeluOp {
  bool tanh_form;
  static constexpr std::string_view name = "gelu";
  static constexpr Policy policy = kToFloating;
  void attributes(auto visit) const { visit("tanh_form", tanh_form); }
  bool operator==(const GeluOp&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// x limited to [min, max]; either bound may be absent.
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

/// Replaces NaN and the infinities. An infinity without a given replacement becomes the largest (lowest) value of the
/// dtype.
struct NanToNum {
  double nan;
  std::optional<Scalar> above;  // replaces +infinity
  std::optional<Scalar> below;  // replaces -infinity
  static constexpr std::string_view name = "nan_to_num";
  static constexpr Policy policy = kKeepsDType;
  void attributes(auto visit) const { visit("nan", nan), visit("above", above), visit("below", below); }
  bool operator==(const NanToNum&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op

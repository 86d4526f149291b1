// Descriptors of element-wise arithmetic of two tensors, and of a tensor and a number.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

inline constexpr Policy kArithmetic = {.accepts = kNumbers, .broadcasts = true};
inline constexpr Policy kAnyPair = {.broadcasts = true};
inline constexpr Policy kQuotient = {.accepts = kFloating, .widens_integers = true, .broadcasts = true};
inline constexpr Policy kPower = {.accepts = kNumbers, .broadcasts = true, .autocast = Autocasting::full};

inline constexpr Policy kDelicatePair = {
    .accepts = kFloating, .widens_integers = true, .broadcasts = true, .autocast = Autocasting::full};
inline constexpr Policy kWide = {.accepts = DTypes{f32, f64}, .broadcasts = true};
inline constexpr Policy kBitsOfTwo = {.accepts = kIntegers | DTypes{boolean}, .broadcasts = true};
inline constexpr Policy kShift = {.accepts = kIntegers, .broadcasts = true};

/// An op on two tensors of equal shape and dtype.
struct Binary {
  void attributes(auto) const {}
  bool operator==(const Binary&) const = default;
  Spec infer(const Operand& a, const Operand& b) const { return {result_view(a.shape(), {a.view, b.view}), a.dtype}; }
};

/// An op on a tensor and a number. The result has the tensor's dtype (public functions cast the tensor first). For an
/// integer dtype the number must be an integer.
struct WithScalar {
  Scalar value = 0;
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const WithScalar&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
};

#define WEFT_BINARY(Op, function, rules)                                    \
  struct Op : Binary {                                                      \
    static constexpr std::string_view name = #function;                     \
    static constexpr Policy policy = rules;                                 \
    void cpu(const Operand& a, const Operand& b, const Operand& out) const; \
  };
#define WEFT_WITH_SCALAR(Op, function, rules)             \
  struct Op : WithScalar {                                \
    static constexpr std::string_view name = #function;   \
    static constexpr Policy policy = rules;               \
    void cpu(const Operand& x, const Operand& out) const; \
  };
#define WEFT_SCALAR_WITH WEFT_WITH_SCALAR
#include "tensor/ops/binary.inc"

/// a + alpha b, rounded once. (Integers take two ops, as alpha must be one of them.)
struct AddScaled : Binary {
  double alpha = 1;
  static constexpr std::string_view name = "add_scaled";
  static constexpr Policy policy = kQuotient;
  void attributes(auto visit) const { visit("alpha", alpha); }
  bool operator==(const AddScaled&) const = default;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op

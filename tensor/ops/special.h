// Descriptors of special functions, and of element-wise formulas used by losses and averages.
#pragma once

#include "tensor/ops/binary.h"
#include "tensor/ops/unary.h"

namespace weft::op {

#define WEFT_UNARY WEFT_UNARY_DESCRIPTOR
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

/// The derivative of digamma of the given order (1 or more).
struct Polygamma {
  int64_t order;
  static constexpr std::string_view name = "polygamma";
  static constexpr Policy policy = kDelicate;
  void attributes(auto visit) const { visit("order", order); }
  bool operator==(const Polygamma&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

/// (a - b)^2
struct SquaredDifference : Binary {
  static constexpr std::string_view name = "squared_difference";
  static constexpr Policy policy = kDelicatePair;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

/// log(1 + e^x) - x y
struct LogisticLoss : Binary {
  static constexpr std::string_view name = "logistic_loss";
  static constexpr Policy policy = kDelicatePair;
  void cpu(const Operand& x, const Operand& y, const Operand& out) const;
};

/// g silu'(x)
struct SiluBackward : Binary {
  static constexpr std::string_view name = "silu_backward";
  static constexpr Policy policy = {.accepts = kFloating};
  void cpu(const Operand& g, const Operand& x, const Operand& out) const;
};

/// (a - b)^2 / 2 where |a - b| <= delta, else delta (|a - b| - delta / 2).
struct Huber : Binary {
  double delta = 1;
  static constexpr std::string_view name = "huber";
  static constexpr Policy policy = kDelicatePair;
  void attributes(auto visit) const { visit("delta", delta); }
  bool operator==(const Huber&) const = default;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

/// a + weight (b - a), computed from the nearer of a and b, so that the rounding error of the added term is smaller.
struct Lerp : Binary {
  double weight = 0;
  static constexpr std::string_view name = "lerp";
  static constexpr Policy policy = kQuotient;
  void attributes(auto visit) const { visit("weight", weight); }
  bool operator==(const Lerp&) const = default;
  void cpu(const Operand& a, const Operand& b, const Operand& out) const;
};

struct Ternary {
  static constexpr Policy policy = kQuotient;
  void attributes(auto) const {}
  bool operator==(const Ternary&) const = default;
  Spec infer(const Operand& x, const Operand& a, const Operand& b) const {
    return {result_view(x.shape(), {x.view, a.view, b.view}), x.dtype};
  }
};
/// Lerp with one weight per element.
struct LerpBy : Ternary {
  static constexpr std::string_view name = "lerp_by";
  void cpu(const Operand& a, const Operand& b, const Operand& weight, const Operand& out) const;
};
struct ThreeOperands : Ternary {
  double value = 1;
  void attributes(auto visit) const { visit("value", value); }
  bool operator==(const ThreeOperands&) const = default;
};
/// x + value * a * b
struct Addcmul : ThreeOperands {
  static constexpr std::string_view name = "addcmul";
  void cpu(const Operand& x, const Operand& a, const Operand& b, const Operand& out) const;
};
/// x + value * a / b
struct Addcdiv : ThreeOperands {
  static constexpr std::string_view name = "addcdiv";
  void cpu(const Operand& x, const Operand& a, const Operand& b, const Operand& out) const;
};

}  // namespace weft::op

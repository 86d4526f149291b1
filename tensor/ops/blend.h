// Descriptors of weighted sums: lerp, addcmul, addcdiv.
#pragma once

#include "tensor/ops/binary.h"

namespace weft::op {

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

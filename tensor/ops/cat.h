// The descriptors of cat and roll.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Joins tensors of one dtype along an axis.
struct Cat {
  int64_t axis;
  static constexpr std::string_view name = "cat";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Cat&) const = default;
  Spec infer(Operands tensors) const;
  void cpu(Operands tensors, const Operand& out) const;
};

/// Element i along axis a is element (i - shifts[a]) mod size of x. Shifts are in [0, size).
struct Roll {
  IntList shifts;
  static constexpr std::string_view name = "roll";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("shifts", shifts); }
  bool operator==(const Roll&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op

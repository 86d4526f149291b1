// The descriptor of cat.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Tensors of one dtype joined along an axis.
struct Cat {
  int64_t axis;
  static constexpr std::string_view name = "cat";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Cat&) const = default;
  Spec infer(Operands tensors) const;
  void cpu(Operands tensors, const Operand& out) const;
};

}  // namespace weft::op

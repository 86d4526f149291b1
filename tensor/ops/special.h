// Descriptors of special functions.
#pragma once

#include "tensor/ops/unary.h"

namespace weft::op {

#define WEFT_UNARY WEFT_UNARY_DESCRIPTOR
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

/// Derivative number `order` (1 or more) of digamma.
struct Polygamma {
  int64_t order;
  static constexpr std::string_view name = "polygamma";
  static constexpr Policy policy = kDelicate;
  void attributes(auto visit) const { visit("order", order); }
  bool operator==(const Polygamma&) const = default;
  Spec infer(const Operand& x) const { return spec_like(x); }
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op

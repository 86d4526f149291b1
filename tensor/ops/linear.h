// Descriptor of x weight^T + bias.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// x weight^T + bias for x (rows, in), weight (out, in) and bias (out) or absent. If x is 16-bit, weight and bias may
/// be f32; their values are rounded to x's dtype for the product.
struct Linear {
  static constexpr std::string_view name = "linear";
  static constexpr std::string_view cost = "2 rows in out operations";
  static constexpr Policy policy = {
      .accepts = kNumbers, .optional = 1u << 2, .autocast = Autocasting::lower, .rounded_inside = 0b110};
  void attributes(auto) const {}
  bool operator==(const Linear&) const = default;
  Spec infer(const Operand& x, const Operand& weight, const Operand& bias) const;
  void cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const;
};

}  // namespace weft::op

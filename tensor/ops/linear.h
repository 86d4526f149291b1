// Descriptor of rows times a weight plus a bias.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// x (rows, in), weight (out, in), bias (out) or absent. Beside an x of 16 bits weight and bias may be f32: the product
/// is that of their values rounded to x's dtype.
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

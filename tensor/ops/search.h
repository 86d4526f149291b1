// The descriptor of searches in sorted rows.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// Where each of `values` (..., m) would go in the sorted rows `sorted` (..., n): how many elements are below it, or,
/// on the `right`, not above it. NaN counts as larger than everything. i64.
struct Searchsorted {
  bool right;
  static constexpr std::string_view name = "searchsorted";
  static constexpr std::string_view cost = "log n comparisons a value";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("right", right); }
  bool operator==(const Searchsorted&) const = default;
  Spec infer(const Operand& sorted, const Operand& values) const;
  void cpu(const Operand& sorted, const Operand& values, const Operand& out) const;
};

}  // namespace weft::op

// The descriptor of searches in sorted rows.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// The position (i64) of each of `values` (..., m) in the sorted rows `sorted` (..., n): the number of elements that
/// are smaller than it, or with `right`, smaller or equal. NaN counts as larger than every number.
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

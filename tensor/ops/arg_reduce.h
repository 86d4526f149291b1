// Descriptors of extrema with their positions. Of equal elements the first is selected; if there is a NaN, the first
// NaN.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// The extremum along one axis (x's dtype) and its first position (i64).
struct ExtremumWithIndices {
  int64_t axis;
  bool largest;
  bool keepdim;
  static constexpr std::string_view name = "max_with_indices";
  static constexpr Policy policy = {};
  static constexpr int outputs = 2;
  void attributes(auto visit) const { visit("axis", axis), visit("largest", largest), visit("keepdim", keepdim); }
  bool operator==(const ExtremumWithIndices&) const = default;
  std::array<Spec, 2> infer(const Operand& x) const;
  void cpu(const Operand& x, const Operand& values, const Operand& indices) const;
};

/// Only the position: along an axis, or without an axis the index in the flattened (row-major) x.
struct ArgExtremum {
  std::optional<int64_t> axis;
  bool keepdim;
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("axis", axis), visit("keepdim", keepdim); }
  bool operator==(const ArgExtremum&) const = default;
  Spec infer(const Operand& x) const;
};
struct Argmax : ArgExtremum {
  static constexpr std::string_view name = "argmax";
  void cpu(const Operand& x, const Operand& out) const;
};
struct Argmin : ArgExtremum {
  static constexpr std::string_view name = "argmin";
  void cpu(const Operand& x, const Operand& out) const;
};

}  // namespace weft::op

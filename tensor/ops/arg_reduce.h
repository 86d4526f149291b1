// Descriptors of extrema with their positions: the first of equals; the first NaN wins.
#pragma once

#include <array>

#include "tensor/ops/infer.h"

namespace weft::op {

/// Values (x's dtype) and first positions (i64) of the extremum along one axis.
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

/// Positions alone: along an axis, or without one in row-major order of all of x.
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

// Descriptors of scatter: elements of `src` written along an axis to the places that `index` names, where several may
// meet.
#pragma once

#include "tensor/ops/index_put.h"

namespace weft::op {

/// What becomes of elements that meet in ScatterReduce.
enum class ScatterReduction : uint8_t { product, largest, smallest };
inline std::string attribute_text(ScatterReduction value) {
  return value == ScatterReduction::product ? "prod" : value == ScatterReduction::largest ? "amax" : "amin";
}

/// x[.., index[.., i, ..], ..] = src[.., i, ..], the last of several; src has index's shape.
struct Scatter {
  int64_t axis;
  static constexpr std::string_view name = "scatter";
  static constexpr Policy policy = kWritesByIndex;
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Scatter&) const = default;
  Spec infer(const Operand& x, const Operand& index, const Operand& src) const;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

/// The same, added to `x`. Sums as ScatterAdd.
struct ScatterSum : Scatter {
  static constexpr std::string_view name = "scatter_sum";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 5};
  bool operator==(const ScatterSum&) const = default;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

/// The same, multiplied into `x`, or the largest or smallest of all; NaN goes through.
struct ScatterReduce {
  int64_t axis;
  ScatterReduction reduction;
  static constexpr std::string_view name = "scatter_reduce";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 5};
  void attributes(auto visit) const { visit("axis", axis), visit("reduction", reduction); }
  bool operator==(const ScatterReduce&) const = default;
  Spec infer(const Operand& x, const Operand& index, const Operand& src) const;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

}  // namespace weft::op

// Descriptors of scatter: elements of `src` are written along an axis to the positions `index`, which can repeat.
#pragma once

#include "tensor/ops/index_put.h"

namespace weft::op {

/// The reduction of elements that ScatterReduce writes to the same position.
enum class ScatterReduction : uint8_t { product, largest, smallest };
inline std::string attribute_text(ScatterReduction value) {
  return value == ScatterReduction::product ? "prod" : value == ScatterReduction::largest ? "amax" : "amin";
}

/// A copy of x with x[.., index[.., i, ..], ..] = src[.., i, ..]; for equal positions the last write is kept. src has
/// index's shape.
struct Scatter {
  int64_t axis;
  static constexpr std::string_view name = "scatter";
  static constexpr Policy policy = kWritesByIndex;
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const Scatter&) const = default;
  Spec infer(const Operand& x, const Operand& index, const Operand& src) const;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

/// The same, but src is added to `x`. Sums are computed as in ScatterAdd.
struct ScatterSum : Scatter {
  static constexpr std::string_view name = "scatter_sum";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 5};
  bool operator==(const ScatterSum&) const = default;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

/// The same, but the elements of src and the old value of x are reduced by product, maximum or minimum. NaN propagates.
/// With `excludes_x`, x holds the neutral element at the positions of the index, which gets no share of the gradient.
struct ScatterReduce {
  int64_t axis;
  ScatterReduction reduction;
  bool excludes_x = false;
  static constexpr std::string_view name = "scatter_reduce";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 5};
  void attributes(auto visit) const {
    visit("axis", axis), visit("reduction", reduction), visit("excludes_x", excludes_x);
  }
  bool operator==(const ScatterReduce&) const = default;
  Spec infer(const Operand& x, const Operand& index, const Operand& src) const;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

}  // namespace weft::op

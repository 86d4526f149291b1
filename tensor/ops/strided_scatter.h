// The descriptor of a write through a view, as a function: what autograd records of the tensor behind the view.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// `x` in row-major order, with the elements that a view of it shows (counted in that order) replaced by `src`.
struct AsStridedScatter {
  Shape shape;
  Strides strides;
  int64_t offset;
  static constexpr std::string_view name = "as_strided_scatter";
  static constexpr Policy policy = {};
  void attributes(auto visit) const { visit("shape", shape), visit("strides", strides), visit("offset", offset); }
  bool operator==(const AsStridedScatter&) const = default;
  Spec infer(const Operand& x, const Operand& src) const;
  void cpu(const Operand& x, const Operand& src, const Operand& out) const;
  /// The part of a row-major tensor that is replaced.
  View part_of(const View& whole) const { return whole.as_strided(shape, strides, offset); }
};

}  // namespace weft::op

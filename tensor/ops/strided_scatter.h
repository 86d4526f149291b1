// The out-of-place form of a write through a view. autograd records it as the history of the view's base.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// A row-major copy of `x` in which the elements of the as_strided view of it are replaced by `src`. Strides and offset
/// refer to the row-major copy.
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

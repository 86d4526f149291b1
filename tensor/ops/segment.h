// Descriptors of segments: consecutive slices along an axis, as many in each as `lengths` (1-D integers) say. Kernels
// check the lengths before they write: ShapeError unless they are 0 or more and add up to the size of the axis.
#pragma once

#include "tensor/ops/scatter.h"

namespace weft::op {

/// Slice i of out along `axis` is the sum of segment i of x, computed as in Sum; of integers, modulo their dtype.
struct SegmentSum {
  int64_t axis;
  static constexpr std::string_view name = "segment_sum";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 1};
  void attributes(auto visit) const { visit("axis", axis); }
  bool operator==(const SegmentSum&) const = default;
  Spec infer(const Operand& x, const Operand& lengths) const;
  void cpu(const Operand& x, const Operand& lengths, const Operand& out) const;
};

/// The same of products, or of the largest or smallest values: NaN propagates. A segment without slices is 1, or the
/// lowest or highest value, which is an infinity of a floating dtype.
struct SegmentReduce {
  int64_t axis;
  ScatterReduction reduction;
  static constexpr std::string_view name = "segment_reduce";
  static constexpr Policy policy = SegmentSum::policy;
  void attributes(auto visit) const { visit("axis", axis), visit("reduction", reduction); }
  bool operator==(const SegmentReduce&) const = default;
  Spec infer(const Operand& x, const Operand& lengths) const;
  void cpu(const Operand& x, const Operand& lengths, const Operand& out) const;
};

/// The adjoint of SegmentSum: slice i of x along `axis` is each slice of segment i of out, whose axis has this size.
struct RepeatInterleave {
  int64_t axis;
  int64_t size;
  static constexpr std::string_view name = "repeat_interleave";
  static constexpr Policy policy = {.numeric = 1};
  void attributes(auto visit) const { visit("axis", axis), visit("size", size); }
  bool operator==(const RepeatInterleave&) const = default;
  Spec infer(const Operand& x, const Operand& lengths) const;
  void cpu(const Operand& x, const Operand& lengths, const Operand& out) const;
};

}  // namespace weft::op

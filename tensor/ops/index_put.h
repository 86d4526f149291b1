// Descriptors of writes at indices along an axis (replace or add), and of the conversion of several index tensors to
// flat indices.
#pragma once

#include "tensor/ops/index.h"

namespace weft::op {

/// Inputs 0 and 2 are values, input 1 is an index.
inline constexpr Policy kWritesByIndex = {.numeric = 5};

/// The flat (row-major) index of a position in axes of `sizes`, given one index tensor per axis. The index tensors are
/// integers of equal shape and may be negative.
struct FlatIndex {
  IntList sizes;
  static constexpr std::string_view name = "flat_index";
  static constexpr Policy policy = {.numeric = 0};
  void attributes(auto visit) const { visit("sizes", sizes); }
  bool operator==(const FlatIndex&) const = default;
  Spec infer(Operands indices) const;
  void cpu(Operands indices, const Operand& out) const;
};

/// A copy of `x` whose slice index[i] along `axis` is slice i of `src`; if an index occurs several times, the last is
/// kept. `axes` as in IndexSelect. `unique`: no index occurs twice.
struct IndexCopy {
  int64_t axis;
  int64_t axes;
  bool unique;
  static constexpr std::string_view name = "index_copy";
  static constexpr Policy policy = kWritesByIndex;
  void attributes(auto visit) const { visit("axis", axis), visit("axes", axes), visit("unique", unique); }
  bool operator==(const IndexCopy&) const = default;
  Spec infer(const Operand& x, const Operand& index, const Operand& src) const;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

/// A copy of `x` with slice i of `src` added to slice index[i] along `axis`; `axes` as in IndexSelect. Slices are
/// summed as in IndexAdd, slices of a single element as in ScatterAdd.
struct IndexAccumulate {
  int64_t axis;
  int64_t axes = 1;
  static constexpr std::string_view name = "index_accumulate";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 5};
  void attributes(auto visit) const { visit("axis", axis), visit("axes", axes); }
  bool operator==(const IndexAccumulate&) const = default;
  Spec infer(const Operand& x, const Operand& index, const Operand& src) const;
  void cpu(const Operand& x, const Operand& index, const Operand& src, const Operand& out) const;
};

}  // namespace weft::op

// Descriptors of writes by index: slices of an axis, replaced or added to, and the flat index that several index
// tensors make.
#pragma once

#include "tensor/ops/index.h"

namespace weft::op {

/// Inputs 0 and 2 have the values, input 1 the indices.
inline constexpr Policy kWritesByIndex = {.numeric = 5};

/// The row-major place in axes of `sizes` that one index per axis names. The indices, integers of one shape, may be
/// negative.
struct FlatIndex {
  IntList sizes;
  static constexpr std::string_view name = "flat_index";
  static constexpr Policy policy = {.numeric = 0};
  void attributes(auto visit) const { visit("sizes", sizes); }
  bool operator==(const FlatIndex&) const = default;
  Spec infer(Operands indices) const;
  void cpu(Operands indices, const Operand& out) const;
};

/// `x`, of which slice index[i] along `axis` is slice i of `src`; the last of several wins. `axes` as in IndexSelect.
/// `unique`: no index comes twice.
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

/// `x`, with slice i of `src` added to slice index[i] along `axis`; `axes` as in IndexSelect. Sums as IndexAdd, single
/// elements as ScatterAdd.
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

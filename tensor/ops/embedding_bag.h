// Descriptors of reductions over bags (groups) of rows of a table. `indices` holds the bags one after the other,
// `offsets` the position at which each begins. Kernels check every index and offset before they write.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// out[b] is the sum of weight[indices[i]] * factors[i] over the positions i of bag b; zeros for an empty bag. indices
/// (n), weight (V, D), offsets (bags), factors (n) or absent. Indices equal to `padding_idx` are skipped (negative:
/// none are). Floating rows are summed in order: groups of eight in their own type, the sums of groups in double.
struct EmbeddingBag {
  int64_t padding_idx;
  static constexpr std::string_view name = "embedding_bag";
  static constexpr std::string_view cost = "one pass over what is read";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 0b1010, .optional = 1u << 3};
  void attributes(auto visit) const { visit("padding_idx", padding_idx); }
  bool operator==(const EmbeddingBag&) const = default;
  Spec infer(const Operand& indices, const Operand& weight, const Operand& offsets, const Operand& factors) const;
  void cpu(const Operand& indices, const Operand& weight, const Operand& offsets, const Operand& factors,
           const Operand& out) const;
};

/// out[b, d] (i64) is the first index of bag b whose row has the largest value in column d; -1 for an empty bag. NaN
/// counts as larger than every number.
struct EmbeddingBagArgmax {
  int64_t padding_idx;
  static constexpr std::string_view name = "embedding_bag_argmax";
  static constexpr std::string_view cost = "one pass over what is read";
  static constexpr Policy policy = {.accepts = kNumbers, .numeric = 0b10};
  void attributes(auto visit) const { visit("padding_idx", padding_idx); }
  bool operator==(const EmbeddingBagArgmax&) const = default;
  Spec infer(const Operand& indices, const Operand& weight, const Operand& offsets) const;
  void cpu(const Operand& indices, const Operand& weight, const Operand& offsets, const Operand& out) const;
};

}  // namespace weft::op

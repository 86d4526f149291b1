// Descriptors of bags of rows of a table: the indices of all bags one after the other, and where each begins. Kernels
// check every index and offset before they write.
#pragma once

#include "tensor/ops/infer.h"

namespace weft::op {

/// out[b] = the sum of weight[indices[i]] factors[i] over the indices i of bag b; zeros for an empty one. indices (n),
/// weight (V, D), offsets (bags), factors (n) or absent. Index `padding_idx` is in no bag (negative: no such
/// index). Floating rows are summed in their order, eight in their own type and such sums
/// in double.
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

/// out[b, d] is the first of the indices of bag b whose row has the largest value in column d, -1 for an empty bag; NaN
/// is larger than everything. i64.
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

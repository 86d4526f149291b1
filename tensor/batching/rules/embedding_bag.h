// Batching of reductions over bags of rows of a table.
#pragma once

#include <algorithm>

#include "tensor/batching/rules/index.h"
#include "tensor/ops/embedding_bag.h"

namespace weft::batching {

namespace detail {
/// Whether the offsets of each sample begin at 0, do not decrease, and do not exceed `total`.
inline bool are_bags(const Tensor& begins, int64_t total) {
  const auto bags = static_cast<size_t>(begins.size(1));
  const std::vector<int64_t> list = dispatch::all_samples(begins).to_vector<int64_t>();
  for (size_t i = 0; i < list.size(); ++i)
    if (i % bags == 0 ? list[i] != 0 : list[i] < list[i - 1]) return false;
  return std::all_of(list.begin(), list.end(), [&](int64_t begin) { return begin <= total; });
}

/// Concatenates the bags of all samples; if samples have different tables, their rows are concatenated to one table.
/// Wrong indices and offsets give the error of the op.
template <class Op> std::vector<Tensor> all_bags(const Op& op, const Call& call) {
  const Tensor indices = cast(call.whole(0), i64), begins = cast(call.whole(2), i64);
  const int64_t total = indices.size(1);
  const bool tables = call.is_batched(1);
  if (indices.numel() == 0 || begins.numel() == 0 || !are_bags(begins, total)) return one_by_one(call);
  const Tensor table = tables ? fold(call.whole(1)) : call.inputs[1].x;
  const int64_t rows = call.inputs[1].x.size(tables ? 1 : 0);
  if (tables && (op.padding_idx >= 0 || !all_within(indices, rows))) return one_by_one(call);
  std::vector<Tensor> inputs = {fold(tables ? in_large_table(indices, rows) : indices), table,
                                fold(in_large_table(begins, total))};
  if (call.inputs.size() > 3) inputs.push_back(call.inputs[3].x.defined() ? fold(call.whole(3)) : Tensor());
  return unfold_all(call.run(op, inputs), call.size());
}
}  // namespace detail

WEFT_BATCHING(EmbeddingBag) = [](const op::EmbeddingBag& op, const Call& call) { return detail::all_bags(op, call); };
WEFT_BATCHING(EmbeddingBagArgmax) = [](const op::EmbeddingBagArgmax& op, const Call& call) {
  return call.is_batched(1) ? one_by_one(call) : detail::all_bags(op, call);
};

}  // namespace weft::batching

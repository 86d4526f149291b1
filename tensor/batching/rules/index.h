// Batching of indexing.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index.h"

namespace weft::batching {

WEFT_BATCHING(Gather) = along_axis;
WEFT_BATCHING(OneHot) = same_op;

namespace detail {
inline Shape behind(int64_t size, Shape shape) {
  shape.insert(0, size);
  return shape;
}
/// `index` (batch, k) along `axis` of `shape`, repeated along all other axes.
inline Tensor index_along(const Tensor& index, int64_t axis, Shape shape) {
  Shape thin(shape);
  for (size_t i = 1; i < thin.size(); ++i) thin[i] = 1;
  thin[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)] = index.size(1);
  return expand(reshape(index, thin), shape);
}
}  // namespace detail

WEFT_BATCHING(ScatterAdd) = [](op::ScatterAdd op, const Call& call) {
  ++op.axis;
  op.shape.insert(0, call.size());
  return call.run(op, call.whole());
};

WEFT_BATCHING(IndexSelect) = [](const op::IndexSelect& op, const Call& call) -> std::vector<Tensor> {
  const Tensor& index = call.inputs[1].x;
  if (!call.is_batched(1)) return call.run(op::IndexSelect{op.axis + 1, op.axes}, {call.whole(0), index});
  if (call.is_batched(0)) {
    const Tensor x = flatten(call.whole(0), op.axis + 1, op.axis + op.axes);
    return call.run(op::Gather{op.axis + 1}, {x, detail::index_along(index, op.axis + 1, x.shape())});
  }
  const auto all = call.run(op, {call.inputs[0].x, flatten(index)});
  return {movedim(unflatten(all[0], op.axis, index.shape()), op.axis, 0)};
};

WEFT_BATCHING(IndexAdd) = [](const op::IndexAdd& op, const Call& call) -> std::vector<Tensor> {
  const Tensor src = call.whole(0);
  const Shape shape = detail::behind(call.size(), op.shape);
  if (!call.is_batched(1)) return call.run(op::IndexAdd{op.axis + 1, shape}, {src, call.inputs[1].x});
  return call.run(op::ScatterAdd{op.axis + 1, shape},
                  {src, detail::index_along(call.inputs[1].x, op.axis + 1, src.shape())});
};

namespace detail {
/// Converts indices (batch, ...) into tables of `rows` rows to indices into one table with the rows of all samples.
inline Tensor in_large_table(const Tensor& indices, int64_t rows) {
  Shape thin = indices.shape();
  for (size_t i = 1; i < thin.size(); ++i) thin[i] = 1;
  return indices + reshape(arange(0, indices.size(0), 1, i64, indices.device()) * rows, thin);
}
inline bool all_within(const Tensor& indices, int64_t rows) {
  const Tensor all = dispatch::all_samples(indices);
  return min(all).item<int64_t>() >= 0 && max(all).item<int64_t>() < rows;
}
}  // namespace detail

WEFT_BATCHING(Embedding) = [](const op::Embedding& op, const Call& call) -> std::vector<Tensor> {
  const Tensor& table = call.inputs[1].x;
  if (!call.is_batched(1)) return call.run(op, {call.inputs[0].x, table});
  const Tensor indices = cast(call.whole(0), i64);
  const int64_t rows = table.size(1);
  // For a wrong index, the op throws its own error.
  if (indices.numel() == 0 || !detail::all_within(indices, rows)) return one_by_one(call);
  std::vector<Tensor> out = call.run(op::Embedding{-1}, {detail::in_large_table(indices, rows), fold(table)});
  // The large table has a padding row for each sample.
  if (op.padding_idx >= 0 && dispatch::may_need_gradient(out[0]))
    out[0] = where(unsqueeze(indices == op.padding_idx, -1), out[0].detach(), out[0]);
  return out;
};

// Padding indices refer to an extra row after the large table, which is then dropped.
WEFT_BATCHING(EmbeddingBackward) = [](const op::EmbeddingBackward& op, const Call& call) -> std::vector<Tensor> {
  const Tensor g = call.whole(0), indices = cast(call.whole(1), i64);
  const int64_t all = op.rows * call.size();
  const Tensor rows = detail::in_large_table(indices, op.rows);
  if (op.padding_idx < 0) return unfold_all(call.run(op::EmbeddingBackward{all, -1}, {g, rows}), call.size());
  const Tensor without = where(indices == op.padding_idx, full({}, all, i64, rows.device()), rows);
  const std::vector<Tensor> out = call.run(op::EmbeddingBackward{all + 1, all}, {g, without});
  return unfold_all({slice(out[0], 0, 0, all)}, call.size());
};

}  // namespace weft::batching

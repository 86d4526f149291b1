// Batching of writes at indices.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/index.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index_put.h"
#include "tensor/ops/scatter.h"

namespace weft::batching {

WEFT_BATCHING(FlatIndex) = same_op;

WEFT_BATCHING(IndexCopy) = [](op::IndexCopy op, const Call& call) -> std::vector<Tensor> {
  const Tensor x = call.whole(0), &index = call.inputs[1].x, src = call.whole(2);
  ++op.axis;
  if (!call.is_batched(1)) return call.run(op, {x, index, src});
  const Tensor rows = flatten(x, op.axis, op.axis + op.axes - 1);
  const auto out = call.run(op::Scatter{op.axis}, {rows, detail::index_along(index, op.axis, src.shape()), src});
  return {reshape(out[0], x.shape())};
};
WEFT_BATCHING(IndexAccumulate) = [](const op::IndexAccumulate& op, const Call& call) -> std::vector<Tensor> {
  const Tensor &index = call.inputs[1].x, src = call.whole(2);
  const Tensor x = call.whole(0);
  if (!call.is_batched(1)) return call.run(op::IndexAccumulate{op.axis + 1, op.axes}, {x, index, src});
  op::ScatterSum sum;
  sum.axis = op.axis + 1;
  const Tensor rows = flatten(x, sum.axis, op.axis + op.axes);
  const auto out = call.run(sum, {rows, detail::index_along(index, sum.axis, src.shape()), src});
  return {reshape(out[0], x.shape())};
};

}  // namespace weft::batching

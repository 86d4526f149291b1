// Batching of layer norm.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/layer_norm.h"

namespace weft::batching {

namespace detail {
/// A weight (batch, features...) with axes of size 1 for the rows of x.
inline Tensor in_front_of_rows(Tensor weight, int64_t rank) {
  while (weight.rank() < rank) weight = unsqueeze(weight, 1);
  return weight;
}
}  // namespace detail

// The op accepts any leading axes. A weight that differs between samples is applied afterwards.
WEFT_BATCHING(LayerNorm) = [](const op::LayerNorm& op, const Call& call) -> std::vector<Tensor> {
  if (!call.is_batched(1) && !call.is_batched(2))
    return call.run(op, {call.whole(0), call.inputs[1].x, call.inputs[2].x});
  std::vector<Tensor> out = call.run(op, {call.whole(0), {}, {}});
  const int64_t rank = out[0].rank();
  const DType dtype = out[0].dtype();
  if (call.inputs[1].x.defined()) out[0] = out[0] * detail::in_front_of_rows(call.whole(1), rank);
  if (call.inputs[2].x.defined()) out[0] = out[0] + detail::in_front_of_rows(call.whole(2), rank);
  out[0] = cast(out[0], dtype);
  return out;
};

WEFT_BATCHING(LayerNormBackward) = [](op::LayerNormBackward op, const Call& call) -> std::vector<Tensor> {
  const Tensor g = call.whole(0), x = call.whole(1), mean = call.whole(3), rstd = call.whole(4);
  IntList rows;
  for (int64_t axis = 1; axis < x.rank() - op.axes; ++axis) rows.push_back(axis);
  const auto over_rows = [&](const Tensor& y) { return rows.empty() ? y : sum(y, rows); };
  const DType parameters = call.inputs[2].x.defined() ? call.inputs[2].x.dtype() : x.dtype();
  const Tensor none = placeholder(call, x), unwanted = cast(none, parameters);
  std::vector<Tensor> out = {none, unwanted, unwanted};
  // Not from mean and rstd: gradients of the statistics go through x.
  if (op.wanted & 2)
    out[1] = cast(over_rows(g * call.run(op::LayerNorm{op.axes, op.eps, op.rms}, {x, {}, {}})[0]), parameters);
  if (op.wanted & 4) out[2] = cast(over_rows(g), parameters);
  if (!(op.wanted & 1)) return out;
  op.wanted = 1;
  const Batch& weight = call.inputs[2];
  const Tensor scaled = weight.batched ? cast(g * detail::in_front_of_rows(weight.x, g.rank()), g.dtype()) : g;
  out[0] = call.run(op, {scaled, x, weight.batched ? Tensor() : weight.x, mean, rstd})[0];
  return out;
};

}  // namespace weft::batching

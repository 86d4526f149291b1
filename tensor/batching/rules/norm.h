// Batching of normalizations and of cross entropy.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/channels.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/batch_norm.h"
#include "tensor/ops/cross_entropy.h"
#include "tensor/ops/group_norm.h"
#include "tensor/ops/layer_norm.h"

namespace weft::batching {

WEFT_BATCHING(CrossEntropy) = folded<0b011>;
WEFT_BATCHING(CrossEntropyBackward) = folded<0b0111>;
WEFT_BATCHING(BatchNormInference) = folded<0b1>;

namespace detail {
/// A weight (batch, features...) with axes of size 1 for the rows of x.
inline Tensor in_front_of_rows(Tensor weight, int64_t rank) {
  while (weight.rank() < rank) weight = unsqueeze(weight, 1);
  return weight;
}
/// The placeholder for a gradient that was not requested.
inline Tensor nothing(const Call& call, const Tensor& like) {
  return zeros({call.size(), 0}, like.dtype(), like.device());
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
  const Tensor none = detail::nothing(call, x), unwanted = cast(none, parameters);
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

// The statistics of a channel are over the images of one sample, so the samples become channels.
WEFT_BATCHING(BatchNorm) = [](const op::BatchNorm& op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  const auto out = call.run(
      op, {detail::batch_to_channels(call.whole(0)), detail::fold_optional(call, 1), detail::fold_optional(call, 2)});
  return {detail::channels_to_batch(out[0], call.size()), unfold_batch(out[1], call.size()),
          unfold_batch(out[2], call.size())};
};
WEFT_BATCHING(BatchNormBackward) = [](const op::BatchNormBackward& op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  std::vector<Tensor> inputs = {detail::batch_to_channels(call.whole(0)), detail::batch_to_channels(call.whole(1))};
  for (size_t i = 2; i < 6; ++i) inputs.push_back(detail::fold_optional(call, i));
  std::vector<Tensor> out = call.run(op, inputs);
  out[0] = op.wanted & 1 ? detail::channels_to_batch(out[0], call.size()) : detail::nothing(call, out[0]);
  out[1] = op.wanted & 2 ? unfold_batch(out[1], call.size()) : detail::nothing(call, out[1]);
  out[2] = op.wanted & 4 ? unfold_batch(out[2], call.size()) : detail::nothing(call, out[2]);
  return out;
};

// The statistics are over groups of channels of each image. If the weights differ between samples, or the gradient of
// the weights is requested, the samples become channels with their own groups.
WEFT_BATCHING(GroupNorm) = [](op::GroupNorm op, const Call& call) -> std::vector<Tensor> {
  if (may_fold(call, 0b1)) return unfold_all(call.run(op, fold_inputs(call, 0b1)), call.size());
  if (call.size() == 0) return one_by_one(call);
  op.groups *= call.size();
  std::vector<Tensor> out = call.run(
      op, {detail::batch_to_channels(call.whole(0)), detail::fold_optional(call, 1), detail::fold_optional(call, 2)});
  for (Tensor& x : out) x = detail::channels_to_batch(x, call.size());
  return out;
};
WEFT_BATCHING(GroupNormBackward) = [](op::GroupNormBackward op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  op.groups *= call.size();
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < 5; ++i)
    inputs.push_back(i == 2 ? detail::fold_optional(call, i) : detail::batch_to_channels(call.whole(i)));
  std::vector<Tensor> out = call.run(op, inputs);
  out[0] = op.wanted & 1 ? detail::channels_to_batch(out[0], call.size()) : detail::nothing(call, out[0]);
  out[1] = op.wanted & 2 ? unfold_batch(out[1], call.size()) : detail::nothing(call, out[1]);
  out[2] = op.wanted & 4 ? unfold_batch(out[2], call.size()) : detail::nothing(call, out[2]);
  return out;
};

}  // namespace weft::batching

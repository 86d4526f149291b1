// Batching of group norm.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/channels.h"
#include "tensor/ops/group_norm.h"

namespace weft::batching {

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
  return detail::batched_gradients(call, op.wanted, call.run(op, inputs));
};

}  // namespace weft::batching

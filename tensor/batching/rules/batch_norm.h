// Batching of batch norm.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/channels.h"
#include "tensor/ops/batch_norm.h"

namespace weft::batching {

WEFT_BATCHING(BatchNormInference) = folded<0b1>;

// The statistics of a channel are over the images of one sample, so the samples become channels.
WEFT_BATCHING(BatchNorm) = [](const op::BatchNorm& op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  const auto out = call.run(
      op, {detail::batch_to_channels(call.whole(0)), detail::fold_optional(call, 1), detail::fold_optional(call, 2)});
  return {detail::channels_to_batch(out[0], call.size()), unfold_batch(out[1], call.size()),
          unfold_batch(out[2], call.size()), unfold_batch(out[3], call.size())};
};
WEFT_BATCHING(BatchNormBackward) = [](const op::BatchNormBackward& op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  std::vector<Tensor> inputs = {detail::batch_to_channels(call.whole(0)), detail::batch_to_channels(call.whole(1))};
  for (size_t i = 2; i < 6; ++i) inputs.push_back(detail::fold_optional(call, i));
  return detail::batched_gradients(call, op.wanted, call.run(op, inputs));
};

}  // namespace weft::batching

// Batching of convolutions: the batch axis is merged into the axis of images, or becomes groups of channels.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/channels.h"
#include "tensor/ops/conv.h"

namespace weft::batching {

// If the weight differs between samples, the samples become groups of channels.
WEFT_BATCHING(Conv) = [](op::Conv op, const Call& call) -> std::vector<Tensor> {
  if (may_fold(call, 0b1)) return unfold_all(call.run(op, fold_inputs(call, 0b1)), call.size());
  if (call.size() == 0) return one_by_one(call);
  op.options.groups *= call.size();
  const auto y =
      call.run(op, {detail::batch_to_channels(call.whole(0)), fold(call.whole(1)), detail::fold_optional(call, 2)});
  return {detail::channels_to_batch(y[0], call.size())};
};
WEFT_BATCHING(ConvBackwardData) = [](op::ConvBackwardData op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  if (may_fold(call, 0b1)) {
    op.shape[0] *= call.size();
    return unfold_all(call.run(op, fold_inputs(call, 0b1)), call.size());
  }
  op.options.groups *= call.size();
  op.shape[1] *= call.size();
  const auto dx = call.run(op, {detail::batch_to_channels(call.whole(0)), fold(call.whole(1))});
  return {detail::channels_to_batch(dx[0], call.size())};
};
WEFT_BATCHING(ConvBackwardWeights) = [](op::ConvBackwardWeights op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  op.options.groups *= call.size();
  op.shape[0] *= call.size();
  op.strides = View::contiguous(op.shape).strides();
  const auto dw = call.run(op, {detail::batch_to_channels(call.whole(0)), detail::batch_to_channels(call.whole(1))});
  return unfold_all(dw, call.size());
};

}  // namespace weft::batching

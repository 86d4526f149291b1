// Batching of products and convolutions: the batch axis is merged into the leading axes of the op, or becomes groups.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/channels.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/view.h"
#include "tensor/ops/attention.h"
#include "tensor/ops/conv.h"
#include "tensor/ops/grid_sample.h"
#include "tensor/ops/linear.h"
#include "tensor/ops/matmul.h"
#include "tensor/ops/pool.h"
#include "tensor/ops/resample.h"

namespace weft::batching {

WEFT_BATCHING(Matmul) = [](const op::Matmul& op, const Call& call) -> std::vector<Tensor> {
  const Tensor &a = call.inputs[0].x, &b = call.inputs[1].x;
  // If the right operand is the same for all samples: one product of all rows.
  if (!call.is_batched(1) && b.rank() == 2) return {matmul(a, b)};
  return call.run(op, call.whole());
};

WEFT_BATCHING(RoundedMatmul) = folded<0b1>;

WEFT_BATCHING(Linear) = [](const op::Linear& op, const Call& call) -> std::vector<Tensor> {
  if (may_fold(call, 0b1)) return unfold_all(call.run(op, fold_inputs(call, 0b1)), call.size());
  const Batch &x = call.inputs[0], &weight = call.inputs[1], &bias = call.inputs[2];
  const DType dtype = x.x.dtype();  // a weight of f32 beside an x of 16 bits is rounded
  const Tensor y = matmul(x.x, transpose(cast(weight.x, dtype), -2, -1));
  if (!bias.x.defined()) return {y.rank() == 3 ? y : expand(unsqueeze(y, 0), {call.size(), y.size(0), y.size(1)})};
  return {y + cast(bias.batched ? unsqueeze(bias.x, 1) : bias.x, dtype)};
};

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

WEFT_BATCHING(MaxPool2d) = folded<0b1>;
WEFT_BATCHING(MaxPool2dGather) = folded<0b11>;
WEFT_BATCHING(FractionalMaxPool) = folded<0b11>;
WEFT_BATCHING(AvgPool2d) = folded<0b1>;
WEFT_BATCHING(Resample) = folded<0b1>;
WEFT_BATCHING(GridSample) = folded<0b11>;
WEFT_BATCHING(GridSampleBackward) = folded<0b111>;

namespace detail {
template <uint32_t mask, class Op> std::vector<Tensor> pool_backward(Op op, const Call& call) {
  if (call.size() == 0) return one_by_one(call);
  op.shape[0] *= call.size();
  return unfold_all(call.run(op, fold_inputs(call, mask)), call.size());
}
}  // namespace detail
WEFT_BATCHING(MaxPool2dBackward) = [](const op::MaxPool2dBackward& op, const Call& call) {
  return detail::pool_backward<0b11>(op, call);
};
WEFT_BATCHING(AvgPool2dBackward) = [](const op::AvgPool2dBackward& op, const Call& call) {
  return detail::pool_backward<0b1>(op, call);
};

// The op accepts any leading axes.
namespace detail {
inline constexpr auto attention = [](auto op, const Call& call) {
  const bool same_numbers = op.setting.dropout_p > 0 && !dispatch::take_mark(op.setting.key.offset);
  return same_numbers ? one_by_one(call) : call.run(op, call.whole());
};
}  // namespace detail
WEFT_BATCHING(Attention) = detail::attention;
WEFT_BATCHING(AttentionBackward) = detail::attention;

}  // namespace weft::batching

// Batching of ops on sequences: the samples join the rows.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/ctc_loss.h"
#include "tensor/ops/recurrent.h"

namespace weft::batching {

namespace detail {
/// (batch, T, N, ...) as (T, batch * N, ...), and back.
inline Tensor fold_second(const Tensor& x) { return flatten(movedim(x, 0, 1), 1, 2); }
inline Tensor unfold_second(const Tensor& x, int64_t size) {
  return movedim(unflatten(x, 1, {size, x.size(1) / size}), 1, 0);
}
}  // namespace detail

// log_probs have the rows on their second axis.
WEFT_BATCHING(CtcLoss) = [](const op::CtcLoss& op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  const auto out =
      call.run(op, {detail::fold_second(call.whole(0)), fold(call.whole(1)), fold(call.whole(2)), fold(call.whole(3))});
  return unfold_all(out, call.size());
};
WEFT_BATCHING(CtcLossBackward) = [](const op::CtcLossBackward& op, const Call& call) -> std::vector<Tensor> {
  if (call.size() == 0) return one_by_one(call);
  const auto out = call.run(op, {fold(call.whole(0)), detail::fold_second(call.whole(1)), fold(call.whole(2)),
                                 fold(call.whole(3)), fold(call.whole(4))});
  return {detail::unfold_second(out[0], call.size())};
};

namespace detail {
/// Inputs whose rows come first; weight and bias must be the same for all samples. What has no elements, [0], is the
/// same for any number of rows.
inline constexpr auto recurrent = [](const auto& op, const Call& call, uint32_t weights) -> std::vector<Tensor> {
  if (!may_fold(call, ~weights)) return one_by_one(call);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool alone = weights >> i & 1u;
    const Tensor& x = call.inputs[i].x;
    const bool none = x.defined() && x.numel() == 0 && x.rank() == (call.is_batched(i) ? 2 : 1);
    inputs.push_back(alone || !x.defined() ? x : none ? zeros({0}, x.dtype(), x.device()) : fold(call.whole(i)));
  }
  std::vector<Tensor> out = call.run(op, inputs);
  for (Tensor& x : out)
    x = x.shape() == Shape{0} ? zeros({call.size(), 0}, x.dtype(), x.device()) : unfold_batch(x, call.size());
  return out;
};
}  // namespace detail

WEFT_BATCHING(Recurrent) = [](const op::Recurrent& op, const Call& call) { return detail::recurrent(op, call, 0b110); };
// The gradients of weights are each sample's own.
WEFT_BATCHING(RecurrentBackward) = [](const op::RecurrentBackward& op, const Call& call) {
  return op.wanted & 0b110 ? one_by_one(call) : detail::recurrent(op, call, 0b110000);
};

}  // namespace weft::batching

// Batching of the CTC loss: the batch axis is merged into the axis of rows (N).
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/view.h"
#include "tensor/ops/ctc_loss.h"

namespace weft::batching {

namespace detail {
/// Convert (batch, T, N, ...) to (T, batch * N, ...), and back.
inline Tensor fold_second(const Tensor& x) { return flatten(movedim(x, 0, 1), 1, 2); }
inline Tensor unfold_second(const Tensor& x, int64_t size) {
  return movedim(unflatten(x, 1, {size, x.size(1) / size}), 1, 0);
}
}  // namespace detail

// In log_probs the rows are axis 1.
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

}  // namespace weft::batching

// Batching of pooling.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/pool.h"

namespace weft::batching {

WEFT_BATCHING(MaxPool2d) = folded<0b1>;
WEFT_BATCHING(MaxPool2dGather) = folded<0b11>;
WEFT_BATCHING(FractionalMaxPool) = folded<0b11>;
WEFT_BATCHING(AvgPool2d) = folded<0b1>;

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

}  // namespace weft::batching

// Batching of padding that repeats or reflects elements.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/pad_mode.h"

namespace weft::batching {

namespace detail {
template <class Op> std::vector<Tensor> unpadded_batch(Op op, const Call& call) {
  op.widths.insert(op.widths.begin(), Padding{0, 0});
  return call.run(op, {call.inputs[0].x});
}
}  // namespace detail

WEFT_BATCHING(PadMode) = detail::unpadded_batch<op::PadMode>;
WEFT_BATCHING(PadModeBackward) = detail::unpadded_batch<op::PadModeBackward>;

}  // namespace weft::batching

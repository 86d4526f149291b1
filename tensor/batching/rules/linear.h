// Batching of linear layers.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/modes.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/view.h"
#include "tensor/ops/linear.h"

namespace weft::batching {

WEFT_BATCHING(Linear) = [](const op::Linear& op, const Call& call) -> std::vector<Tensor> {
  const Batch &x = call.inputs[0], &weight = call.inputs[1], &bias = call.inputs[2];
  const DType dtype = x.x.dtype();  // a weight of f32 beside an x of 16 bits is rounded
  if (may_fold(call, 0b1)) {
    // As in the scope of Autocast that left it in f32, without which the op would widen x.
    const internal::ModeScope rounds(&internal::Modes::autocast, is_half_precision(dtype) ? dtype : f32);
    return unfold_all(call.run(op, fold_inputs(call, 0b1)), call.size());
  }
  const Tensor y = matmul(x.x, transpose(cast(weight.x, dtype), -2, -1));
  if (!bias.x.defined()) return {y.rank() == 3 ? y : expand(unsqueeze(y, 0), {call.size(), y.size(0), y.size(1)})};
  return {y + cast(bias.batched ? unsqueeze(bias.x, 1) : bias.x, dtype)};
};

}  // namespace weft::batching

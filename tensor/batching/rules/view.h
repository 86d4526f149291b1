// Batching of the adjoint of views. (Views themselves are arithmetic.)
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft::batching {

// The part of contiguous memory, the same in each sample.
WEFT_BATCHING(ViewAdjoint) = [](const op::ViewAdjoint& op, const Call& call) -> std::vector<Tensor> {
  const View memory = View::contiguous(op.shape), part = op.part_of(memory);
  if (part.has_mask() || part.numel() == 0) return one_by_one(call);
  op::AsStrided strided{{call.size()}, {memory.numel()}, part.offset()};
  for (int64_t axis = 0; axis < part.rank(); ++axis) {
    strided.shape.push_back(part.dim(axis));
    strided.strides.push_back(part.stride(axis));
  }
  Shape shape = op.shape;
  shape.insert(0, call.size());
  return call.run(op::ViewAdjoint{AnyOp(strided), shape}, call.whole());
};

}  // namespace weft::batching

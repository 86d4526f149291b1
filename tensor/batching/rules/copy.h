// Batching of copies and of the adjoint of views. (Views themselves are arithmetic.)
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/batching/rules/strided_scatter.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft::batching {

WEFT_BATCHING(Contiguous) = same_op;
WEFT_BATCHING(Clone) = same_op;
WEFT_BATCHING(Cast) = same_op;
WEFT_BATCHING(Fill) = same_op;

WEFT_BATCHING(ViewAdjoint) = [](const op::ViewAdjoint& op, const Call& call) -> std::vector<Tensor> {
  const View memory = View::contiguous(op.shape), part = op.part_of(memory);
  if (part.has_mask() || part.numel() == 0) return one_by_one(call);
  const auto strided = detail::in_each_sample<op::AsStrided>(part, memory.numel(), call.size());
  Shape shape = op.shape;
  shape.insert(0, call.size());
  return call.run(op::ViewAdjoint{AnyOp(strided), shape}, call.whole());
};

}  // namespace weft::batching

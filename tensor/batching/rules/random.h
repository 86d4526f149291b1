// Batching of ops that draw random numbers: each sample's own where the key says so (dispatch/batched.h), else the
// same.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/dropout.h"
#include "tensor/ops/random.h"

namespace weft::batching {

WEFT_BATCHING(Dropout) = [](op::Dropout op, const Call& call) -> std::vector<Tensor> {
  return dispatch::take_mark(op.offset) ? call.run(op, call.whole()) : one_by_one(call);
};
// It has no inputs: where it gets here, its samples differ.
WEFT_BATCHING(RandomFill) = [](op::RandomFill op, const Call& call) -> std::vector<Tensor> {
  dispatch::take_mark(op.offset);
  op.shape.insert(0, call.size());
  op.device = call.level.below;
  return call.run(op, {});
};

}  // namespace weft::batching

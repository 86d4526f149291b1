// Batching of cat and roll.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/cat.h"

namespace weft::batching {

WEFT_BATCHING(Cat) = along_axis;
WEFT_BATCHING(Roll) = [](op::Roll op, const Call& call) -> std::vector<Tensor> {
  op.shifts.insert(0, 0);
  return call.run(op, {call.inputs[0].x});
};

}  // namespace weft::batching

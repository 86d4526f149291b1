// Batching of matrix products.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/matmul.h"
#include "tensor/ops/matmul.h"

namespace weft::batching {

WEFT_BATCHING(Matmul) = [](const op::Matmul& op, const Call& call) -> std::vector<Tensor> {
  const Tensor &a = call.inputs[0].x, &b = call.inputs[1].x;
  // If the right operand is the same for all samples: one product of all rows.
  if (!call.is_batched(1) && b.rank() == 2) return {matmul(a, b)};
  return call.run(op, call.whole());
};

WEFT_BATCHING(RoundedMatmul) = folded<0b1>;

}  // namespace weft::batching

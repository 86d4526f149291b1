// Batching of ops of a tensor and a number. (Ops of two tensors broadcast and need no row.)
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/binary.h"

namespace weft::batching {

#define WEFT_WITH_SCALAR(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#define WEFT_SCALAR_WITH(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/binary.inc"

}  // namespace weft::batching

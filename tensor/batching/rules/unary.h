// Batching of element-wise ops of one tensor.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/special.h"
#include "tensor/ops/unary.h"

namespace weft::batching {

#define WEFT_UNARY(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

WEFT_BATCHING(LeakyRelu) = same_op;
WEFT_BATCHING(GeluOp) = same_op;
WEFT_BATCHING(Clip) = same_op;
WEFT_BATCHING(NanToNum) = same_op;

}  // namespace weft::batching

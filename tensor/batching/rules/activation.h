// Batching of activations with parameters, and of activation.inc.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/activation.h"

namespace weft::batching {

#define WEFT_UNARY(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/activation.inc"
#undef WEFT_UNARY

WEFT_BATCHING(Elu) = same_op;
WEFT_BATCHING(Hardtanh) = same_op;
WEFT_BATCHING(Softshrink) = same_op;
WEFT_BATCHING(Hardshrink) = same_op;
WEFT_BATCHING(Threshold) = same_op;

}  // namespace weft::batching

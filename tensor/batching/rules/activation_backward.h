// Batching of the gradients of activations.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/activation_backward.h"

namespace weft::batching {

#define WEFT_BACKWARD(Op, function) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/activation_backward.inc"
#undef WEFT_BACKWARD

WEFT_BATCHING(GeluBackward) = same_op;
WEFT_BATCHING(EluBackward) = same_op;
WEFT_BATCHING(PiecewiseBackward) = same_op;

}  // namespace weft::batching

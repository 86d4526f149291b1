// Batching of special functions.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/special.h"

namespace weft::batching {

#define WEFT_UNARY(Op, function, policy) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/special.inc"
#undef WEFT_UNARY

WEFT_BATCHING(Polygamma) = same_op;
WEFT_BATCHING(LogNdtrSlope) = same_op;

}  // namespace weft::batching

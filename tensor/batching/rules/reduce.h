// Batching of reductions.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/reduce.h"

namespace weft::batching {

WEFT_BATCHING(Sum) = over_axes;
WEFT_BATCHING(NanSum) = over_axes;
WEFT_BATCHING(Prod) = over_axes;
WEFT_BATCHING(Max) = over_axes;
WEFT_BATCHING(Min) = over_axes;
WEFT_BATCHING(All) = over_axes;
WEFT_BATCHING(Any) = over_axes;
WEFT_BATCHING(Logsumexp) = over_axes;
WEFT_BATCHING(Norm) = over_axes;
WEFT_BATCHING(Var) = over_axes;

}  // namespace weft::batching

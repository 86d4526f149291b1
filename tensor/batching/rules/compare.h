// Batching of comparisons with a number, and of predicates.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/ops/compare.h"

namespace weft::batching {

#define WEFT_COMPARE(Op, ScalarOp, function) WEFT_BATCHING(ScalarOp) = same_op;
#define WEFT_PREDICATE(Op, function) WEFT_BATCHING(Op) = same_op;
#include "tensor/ops/compare.inc"

}  // namespace weft::batching

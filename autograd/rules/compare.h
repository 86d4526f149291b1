// Comparisons and logic have no gradient; where() passes the gradient to the selected operand.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/compare.h"

namespace weft::autograd {

#define WEFT_LOGICAL(Op, function) WEFT_GRADIENT(Op) = not_differentiable("truth values");
#define WEFT_COMPARE(Op, ScalarOp, function) WEFT_LOGICAL(Op, function) WEFT_LOGICAL(ScalarOp, function)
#define WEFT_PREDICATE(Op, function) WEFT_LOGICAL(Op, function)
#include "tensor/ops/compare.inc"

WEFT_GRADIENT(Where) = per_input(
    no_gradient, [](Grad g, Input<0> condition) { return where(condition, g, zeros_like(g)); },
    [](Grad g, Input<0> condition) { return where(condition, zeros_like(g), g); });

}  // namespace weft::autograd

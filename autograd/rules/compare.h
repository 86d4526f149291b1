// Comparisons and logic have no gradient; where() passes the gradient to the selected operand.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/functions/compare.h"
#include "tensor/ops/compare.h"

namespace weft::autograd {

#define WEFT_LOGICAL(Op, function) WEFT_GRADIENT(Op) = not_differentiable("truth values");
#define WEFT_COMPARE(Op, ScalarOp, function) WEFT_LOGICAL(Op, function) WEFT_LOGICAL(ScalarOp, function)
#define WEFT_PREDICATE(Op, function) WEFT_LOGICAL(Op, function)
#include "tensor/ops/compare.inc"

WEFT_GRADIENT(Where) = per_input(
    no_gradient, [](Grad g, Input<0> condition) { return where(condition, g, formulas::zeros_beside(g)); },
    [](Grad g, Input<0> condition) { return where(condition, formulas::zeros_beside(g), g); });

}  // namespace weft::autograd

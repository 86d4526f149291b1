// Rules of extrema with positions: the element at the returned position gets the gradient.
#pragma once

#include "autograd/rules/choice_rule.h"
#include "tensor/ops/arg_reduce.h"

namespace weft::autograd {

WEFT_GRADIENT(ExtremumWithIndices) = formulas::one_choice_rule<op::ExtremumWithIndices>;
WEFT_GRADIENT(Argmax) = not_differentiable("positions");
WEFT_GRADIENT(Argmin) = not_differentiable("positions");

}  // namespace weft::autograd

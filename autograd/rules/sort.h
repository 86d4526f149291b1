// Rules of sorts and selections: a selected element gets the gradient of its result.
#pragma once

#include "autograd/rules/choice_rule.h"
#include "tensor/ops/sort.h"

namespace weft::autograd {

WEFT_GRADIENT(Sort) = formulas::choice_rule<op::Sort>;
WEFT_GRADIENT(SortRows) = not_differentiable("positions");
WEFT_GRADIENT(Topk) = formulas::choice_rule<op::Topk>;
WEFT_GRADIENT(Kthvalue) = formulas::one_choice_rule<op::Kthvalue>;
WEFT_GRADIENT(Median) = formulas::one_choice_rule<op::Median>;

}  // namespace weft::autograd

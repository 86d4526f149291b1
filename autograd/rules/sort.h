// Rules of sorts and selections: a selected element gets the gradient of its result.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"
#include "tensor/ops/sort.h"

namespace weft::autograd {

namespace formulas {
template <class Op>
inline constexpr auto choice_rule = per_input([](const Op& op, Grad g, OutputOf<1> indices, ViewOf<0> x) {
  return adjoint::scatter_add(g, op.axis, indices, x.shape());
});
template <class Op>
inline constexpr auto one_choice_rule = per_input([](const Op& op, Grad g, OutputOf<1> indices, ViewOf<0> x) {
  const Tensor spread = op.keepdim ? Tensor(g) : unsqueeze(g, op.axis);
  const Tensor positions = op.keepdim ? Tensor(indices) : unsqueeze(indices, op.axis);
  return adjoint::scatter_add(spread, op.axis, positions, x.shape());
});
}  // namespace formulas

WEFT_GRADIENT(Sort) = formulas::choice_rule<op::Sort>;
WEFT_GRADIENT(SortRows) = not_differentiable("positions");
WEFT_GRADIENT(Topk) = formulas::choice_rule<op::Topk>;
WEFT_GRADIENT(Kthvalue) = formulas::one_choice_rule<op::Kthvalue>;
WEFT_GRADIENT(Median) = formulas::one_choice_rule<op::Median>;

}  // namespace weft::autograd

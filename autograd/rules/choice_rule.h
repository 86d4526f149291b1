// The rules of ops that return elements of their input with their positions: an element gets its result's gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/view.h"

namespace weft::autograd::formulas {

/// Outputs with the axes of the input: sort, topk, cumulative extrema.
template <class Op>
inline constexpr auto choice_rule = per_input([](const Op& op, Grad g, OutputOf<1> indices, ViewOf<0> x) {
  return adjoint::scatter_add(g, op.axis, indices, x.shape());
});
/// One element along the axis, which `keepdim` may keep.
template <class Op>
inline constexpr auto one_choice_rule = per_input([](const Op& op, Grad g, OutputOf<1> indices, ViewOf<0> x) {
  const Tensor spread = op.keepdim ? Tensor(g) : unsqueeze(g, op.axis);
  const Tensor positions = op.keepdim ? Tensor(indices) : unsqueeze(indices, op.axis);
  return adjoint::scatter_add(spread, op.axis, positions, x.shape());
});

}  // namespace weft::autograd::formulas

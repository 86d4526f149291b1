// Rules of views. The generic adjoint (zeros, with the gradient added into the same view of them) works for every view.
// If a view covers its input exactly once, the inverse view gives the same result without a copy. For an expansion, the
// gradient is summed.
#pragma once

#include "autograd/rule.h"
#include "tensor/core/axis_lists.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/view.h"

namespace weft::autograd {

namespace formulas {
inline constexpr auto reshape_back = per_input([](Grad g, ViewOf<0> x) { return reshape(g, x.shape()); });
}  // namespace formulas

WEFT_GRADIENT(Reshape) = formulas::reshape_back;
WEFT_GRADIENT(Squeeze) = formulas::reshape_back;
WEFT_GRADIENT(SqueezeAll) = formulas::reshape_back;
WEFT_GRADIENT(Unsqueeze) = formulas::reshape_back;
WEFT_GRADIENT(Expand) = per_input([](Grad g, ViewOf<0> x) { return sum_to_size(g, x.shape()); });
WEFT_GRADIENT(Permute) = per_input([](const op::Permute& op, Grad g) {
  return permute(g, internal::inverse_permutation(op.axes));
});
WEFT_GRADIENT(Flip) = per_input([](const op::Flip& op, Grad g) { return flip(g, op.axes); });
WEFT_GRADIENT(Pad) = per_input([](const op::Pad& op, Grad g, ViewOf<0> x) {
  std::vector<Interval> bounds;
  for (size_t i = 0; i < op.padding.size(); ++i)
    bounds.push_back({op.padding[i].first, op.padding[i].first + x.shape()[i]});
  return shrink(g, bounds);
});
WEFT_GRADIENT(Slice) = view_adjoint;
WEFT_GRADIENT(Select) = view_adjoint;
WEFT_GRADIENT(Shrink) = view_adjoint;
WEFT_GRADIENT(Unfold) = view_adjoint;
WEFT_GRADIENT(Diagonal) = view_adjoint;
WEFT_GRADIENT(AsStrided) = view_adjoint;

}  // namespace weft::autograd

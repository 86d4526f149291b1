// Rules of copies and writes in place.
#pragma once

#include "autograd/rule.h"
#include "tensor/core/axis_lists.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"
#include "tensor/ops/copy.h"

namespace weft::autograd {

namespace formulas {
/// `g` in the memory order of `x` if x is dense: g itself, or a copy.
inline Tensor in_order_of(const Tensor& g, const View& x) {
  if (!x.is_dense() || x.is_contiguous()) return g;
  const IntList order = internal::outermost_first(x);
  return permute(contiguous(permute(g, order)), internal::inverse_permutation(order));
}
}  // namespace formulas

// A gradient is returned in the memory order of its tensor, so that earlier ops keep their order (such as
// channels-last).
WEFT_GRADIENT(Contiguous) = per_input([](Grad g, ViewOf<0> x) { return formulas::in_order_of(g, x.view); });
WEFT_GRADIENT(Clone) = per_input([](Grad g) { return g; });
// The dtype of x is known without saving x.
WEFT_GRADIENT(Cast) = per_input([](Grad g, InputType<0> x) { return cast(g, x.dtype); });
// For parameters: the copy that Autocast made is recomputed, so that it need not be kept until backward.
template <> inline constexpr int recomputed_inputs<op::Cast> = 1;
WEFT_GRADIENT(ToDevice) = per_input([](const op::ToDevice& op, Grad g) { return to(g, op.from); });
// The gradient can differ between samples.
WEFT_GRADIENT(Lift) = per_input([](Grad g) { return g; });
// The overwritten value gets no gradient.
WEFT_GRADIENT(Fill) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(CopyFrom) = per_input([](Grad g) { return zeros_like(g); },
                                    [](Grad g, InputType<1> source) { return cast(g, source.dtype); });
// This op is never recorded.
WEFT_GRADIENT(AddInto) = not_differentiable("an update in place");
WEFT_GRADIENT(Detach) = not_differentiable("cuts the path, as asked");
// The adjoint of the adjoint is the view itself.
WEFT_GRADIENT(ViewAdjoint) = per_input([](const op::ViewAdjoint& op, Grad g) {
  return dispatch::apply_view(op.of, g.contiguous());
});

}  // namespace weft::autograd

// Rules of copies and writes in place.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/fill.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::Contiguous> = per_input([](Grad g) { return g; });
template <>
inline constexpr auto gradient<op::Clone> = per_input([](Grad g) { return g; });
// The engine knows the dtype of what the gradient belongs to.
template <>
inline constexpr auto gradient<op::Cast> = per_input([](Grad g, InputType<0> x) { return cast(g, x.dtype); });
// What was overwritten passes nothing on.
template <>
inline constexpr auto gradient<op::Fill> = per_input([](Grad g) { return zeros_like(g); });
template <>
inline constexpr auto gradient<op::CopyFrom> = per_input([](Grad g) { return zeros_like(g); },
                                                         [](Grad g, InputType<1> source) {
  return cast(g, source.dtype);
});
template <>
inline constexpr auto gradient<op::Detach> = not_differentiable;
// The adjoint of the adjoint is the view itself.
template <>
inline constexpr auto gradient<op::ViewAdjoint> = per_input([](const op::ViewAdjoint& op, Grad g) {
  return apply_view(op.of, g.contiguous());
});

}  // namespace weft::autograd

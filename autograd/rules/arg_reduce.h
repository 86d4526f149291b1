// Rules of extrema with positions: the element at the returned position gets the gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"
#include "tensor/ops/arg_reduce.h"

namespace weft::autograd {

WEFT_GRADIENT(ExtremumWithIndices) = per_input([](const op::ExtremumWithIndices& op, Grad g, OutputOf<1> indices,
                                                  ViewOf<0> x) {
  const Tensor spread = op.keepdim ? Tensor(g) : unsqueeze(g, op.axis);
  const Tensor positions = op.keepdim ? Tensor(indices) : unsqueeze(indices, op.axis);
  return adjoint::scatter_add(spread, op.axis, positions, x.shape());
});
WEFT_GRADIENT(Argmax) = not_differentiable("positions");
WEFT_GRADIENT(Argmin) = not_differentiable("positions");

}  // namespace weft::autograd

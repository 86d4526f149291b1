// Rules of writes by index. Indices have no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index_put.h"
#include "tensor/ops/index_put.h"

namespace weft::autograd {

WEFT_GRADIENT(FlatIndex) = not_differentiable("positions");
WEFT_GRADIENT(IndexCopy) = per_input(  //
    [](const op::IndexCopy& op, Grad g, Input<1> index) {
      return adjoint::index_clear(g, op.axis, op.axes, index, op.unique);
    },
    no_gradient,
    [](const op::IndexCopy& op, Grad g, Input<1> index) {
      return adjoint::index_written(g, op.axis, op.axes, index, op.unique);
    });
WEFT_GRADIENT(IndexAccumulate) = per_input(  //
    [](Grad g) { return g; }, no_gradient,
    [](const op::IndexAccumulate& op, Grad g, Input<1> index) {
      return adjoint::index_written(g, op.axis, op.axes, index, true);
    });

}  // namespace weft::autograd

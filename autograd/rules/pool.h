// Rules of pooling. The rules of an op and of its adjoint use each other.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index.h"
#include "tensor/adjoints/pool.h"
#include "tensor/functions/view.h"
#include "tensor/ops/pool.h"

namespace weft::autograd {

WEFT_GRADIENT(MaxPool2d) = per_input([](const op::MaxPool2d& op, Grad g, OutputOf<1> indices, ViewOf<0> x) {
  return adjoint::max_pool2d_backward(g, indices, x.shape(), op.windows);
});
WEFT_GRADIENT(MaxPool2dBackward) = per_input(  //
    [](const op::MaxPool2dBackward& op, Grad gg, Input<1> indices) {
      return adjoint::max_pool2d_gather(gg, indices, op.windows);
    },
    no_gradient);
WEFT_GRADIENT(MaxPool2dGather) = per_input(  //
    [](const op::MaxPool2dGather& op, Grad g, Input<1> indices, ViewOf<0> x) {
      return adjoint::max_pool2d_backward(g, indices, x.shape(), op.windows);
    },
    no_gradient);
WEFT_GRADIENT(FractionalMaxPool) = per_input(
    [](Grad g, OutputOf<1> indices, ViewOf<0> x) {
      const Shape flat = {x.view.dim(0), x.view.dim(1), x.view.dim(2) * x.view.dim(3) * x.view.dim(4)};
      return reshape(adjoint::scatter_add(flatten(g, 2, -1), 2, flatten(indices, 2, -1), flat), x.shape());
    },
    no_gradient);
WEFT_GRADIENT(AvgPool2d) = per_input([](const op::AvgPool2d& op, Grad g, ViewOf<0> x) {
  return adjoint::avg_pool2d_backward(g, x.shape(), op.options);
});
WEFT_GRADIENT(AvgPool2dBackward) = per_input([](const op::AvgPool2dBackward& op, Grad gg) {
  return adjoint::avg_pool2d_whole(gg, op.options);
});

}  // namespace weft::autograd

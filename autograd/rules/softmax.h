// Rules of softmax and log-softmax, and of their gradients.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/softmax.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/softmax.h"

namespace weft::autograd {

WEFT_GRADIENT(Softmax) = per_input([](const op::Softmax& op, Grad g, Output y) {
  return adjoint::softmax_backward(g, y, op.axis);
});
WEFT_GRADIENT(LogSoftmax) = per_input([](const op::LogSoftmax& op, Grad g, Output y) {
  return adjoint::log_softmax_backward(g, y, op.axis);
});

// f(g, y) = y (g - sum(g y)) is its own adjoint in g.
WEFT_GRADIENT(SoftmaxBackward) = per_input(  //
    [](const op::SoftmaxBackward& op, Grad gg, Input<1> y) { return adjoint::softmax_backward(gg, y, op.axis); },
    [](const op::SoftmaxBackward& op, Grad gg, Input<0> g, Input<1> y) {
      return gg * (g - sum(g * y, op.axis, keepdim)) - g * sum(gg * y, op.axis, keepdim);
    });
// f(g, y) = g - e^y sum(g)
WEFT_GRADIENT(LogSoftmaxBackward) = per_input(  //
    [](const op::LogSoftmaxBackward& op, Grad gg, Input<1> y) { return gg - sum(gg * exp(y), op.axis, keepdim); },
    [](const op::LogSoftmaxBackward& op, Grad gg, Input<0> g, Input<1> y) {
      return -gg * exp(y) * sum(g, op.axis, keepdim);
    });

}  // namespace weft::autograd

// Rules of the convolution and of its two gradient ops. The rule of each uses the other two.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/conv.h"
#include "tensor/functions/reduce.h"
#include "tensor/ops/conv.h"

namespace weft::autograd {

WEFT_GRADIENT(Conv) = per_input(  //
    [](const op::Conv& op, Grad g, ViewOf<0> x, Input<1> w) {
      return adjoint::conv_backward_data(g, w, x.shape(), op.options);
    },
    [](const op::Conv& op, Grad g, Input<0> x, ViewOf<1> w, Into<1> into) {
      return adjoint::conv_backward_weights(x, g, w.view, op.options, into);
    },
    [](const op::Conv& op, Grad g) {
      std::vector<int64_t> axes = {0};
      for (int64_t i = 0; i < op.options.axes; ++i) axes.push_back(i + 2);
      return sum(g, axes);
    });

WEFT_GRADIENT(ConvBackwardData) = per_input(  //
    [](const op::ConvBackwardData& op, Grad gg, Input<1> w) { return adjoint::conv(gg, w, op.options); },
    [](const op::ConvBackwardData& op, Grad gg, Input<0> g, ViewOf<1> w) {
      return adjoint::conv_backward_weights(gg, g, w.view, op.options);
    });

WEFT_GRADIENT(ConvBackwardWeights) = per_input(  //
    [](const op::ConvBackwardWeights& op, Grad gw, ViewOf<0> x, Input<1> g) {
      return adjoint::conv_backward_data(g, gw, x.shape(), op.options);
    },
    [](const op::ConvBackwardWeights& op, Grad gw, Input<0> x) { return adjoint::conv(x, gw, op.options); });

WEFT_GRADIENT(ConvScaled) = not_differentiable("runs where nothing is recorded");
WEFT_GRADIENT(ConvPrepack) = not_differentiable("runs where nothing is recorded");

}  // namespace weft::autograd

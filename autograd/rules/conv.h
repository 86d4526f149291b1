// Rules of the convolution and of its two gradients: three ops whose rules name each other.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/conv.h"
#include "tensor/functions/conv.h"
#include "tensor/functions/reduce.h"
#include "tensor/ops/conv.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::Conv2d> = per_input(
    [](const op::Conv2d& op, Grad g, ViewOf<0> x, Input<1> w) {
  return adjoint::conv2d_backward_data(g, w, x.shape(), op.options);
    },
    [](const op::Conv2d& op, Grad g, Input<0> x, ViewOf<1> w) {
  return adjoint::conv2d_backward_weights(x, g, w.view, op.options);
},
                      [](Grad g) {
  return sum(g, {0, 2, 3});
});

template <>
inline constexpr auto gradient<op::Conv2dBackwardData> =
    per_input([](const op::Conv2dBackwardData& op, Grad gg, Input<1> w) { return conv2d(gg, w, op.options); },
              [](const op::Conv2dBackwardData& op, Grad gg, Input<0> g, ViewOf<1> w) {
  return adjoint::conv2d_backward_weights(gg, g, w.view, op.options);
    });

template <>
inline constexpr auto gradient<op::Conv2dBackwardWeights> =
    per_input([](const op::Conv2dBackwardWeights& op, Grad gw, ViewOf<0> x,
                 Input<1> g) { return adjoint::conv2d_backward_data(g, gw, x.shape(), op.options); },
              [](const op::Conv2dBackwardWeights& op, Grad gw, Input<0> x) { return conv2d(x, gw, op.options); });

}  // namespace weft::autograd

// Rules of activations.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/adjoints/activation_backward.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/activation.h"

namespace weft::autograd {

WEFT_GRADIENT(Mish) = per_input([](Grad g, Input<0> x) { return adjoint::mish_backward(std::move(g), x); });
template <> inline constexpr int recomputed_inputs<op::Mish> = 1;
WEFT_GRADIENT(Hardswish) = per_input([](Grad g, Input<0> x) { return adjoint::hardswish_backward(std::move(g), x); });
template <> inline constexpr int recomputed_inputs<op::Hardswish> = 1;
WEFT_GRADIENT(Logsigmoid) = per_input([](Grad g, Input<0> x) { return adjoint::logsigmoid_backward(std::move(g), x); });
WEFT_GRADIENT(Softsign) = in_f32(per_input([](Grad g, Input<0> x) { return g / square(abs(x) + 1.0); }));
WEFT_GRADIENT(Elu) = per_input([](const op::Elu& op, Grad g, Input<0> x) {
  return adjoint::elu_backward(std::move(g), x, op.alpha, op.scale, op.input_scale);
});
template <> inline constexpr int recomputed_inputs<op::Elu> = 1;

// Functions of straight pieces.
WEFT_GRADIENT(Hardsigmoid) = per_input([](Grad g, Input<0> x) {
  return adjoint::piecewise_backward(std::move(g), x, {.low = -3, .high = 3, .open = true, .inside = 1.0 / 6});
});
WEFT_GRADIENT(Hardtanh) = per_input([](const op::Hardtanh& op, Grad g, Input<0> x) {
  return adjoint::piecewise_backward(std::move(g), x, {.low = op.min, .high = op.max, .open = true});
});
WEFT_GRADIENT(Softshrink) = per_input([](const op::Softshrink& op, Grad g, Input<0> x) {
  return adjoint::piecewise_backward(std::move(g), x, {.low = -op.width, .high = op.width, .inside = 0, .outside = 1});
});
WEFT_GRADIENT(Hardshrink) = per_input([](const op::Hardshrink& op, Grad g, Input<0> x) {
  return adjoint::piecewise_backward(std::move(g), x, {.low = -op.width, .high = op.width, .inside = 0, .outside = 1});
});
WEFT_GRADIENT(Threshold) = per_input([](const op::Threshold& op, Grad g, Input<0> x) {
  return adjoint::piecewise_backward(std::move(g), x, {.high = op.threshold, .inside = 0, .outside = 1});
});
WEFT_GRADIENT(Prelu) = per_input([](Grad g, Input<0> x, Input<1> slope) { return where(x > 0.0, g, g * slope); },
                                 [](Grad g, Input<0> x) { return where(x > 0.0, formulas::zeros_beside(g), g * x); });

}  // namespace weft::autograd

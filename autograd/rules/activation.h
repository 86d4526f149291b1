// Rules of activations.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/activation.h"

namespace weft::autograd {

WEFT_GRADIENT(Mish) = per_input([](Grad g, Input<0> x) {
  const Tensor t = tanh(softplus(x));
  return g * (t + x * (1.0 - square(t)) * sigmoid(x));
});
template <> inline constexpr int recomputed_inputs<op::Mish> = 1;
WEFT_GRADIENT(Hardswish) = per_input([](Grad g, Input<0> x) {
  return where(x <= -3.0, formulas::zeros_beside(g), where(x >= 3.0, g, g * (x / 3.0 + 0.5)));
});
template <> inline constexpr int recomputed_inputs<op::Hardswish> = 1;
WEFT_GRADIENT(Hardsigmoid) = per_input([](Grad g, Input<0> x) {
  return where(logical_and(x > -3.0, x < 3.0), g / 6.0, formulas::zeros_beside(g));
});
WEFT_GRADIENT(Logsigmoid) = per_input([](Grad g, Input<0> x) { return g * sigmoid(-x); });
WEFT_GRADIENT(Softsign) = in_f32(per_input([](Grad g, Input<0> x) { return g / square(abs(x) + 1.0); }));
// The argument of exp is bounded, so that the branch that is not selected stays finite in the second derivative as
// well.
WEFT_GRADIENT(Elu) = per_input([](const op::Elu& op, Grad g, Input<0> x) {
  const Tensor below = exp(clip(x, std::nullopt, 0.0) * op.input_scale) * (op.scale * op.alpha * op.input_scale);
  return where(x <= 0.0, g * below, g * op.scale);
});
template <> inline constexpr int recomputed_inputs<op::Elu> = 1;
WEFT_GRADIENT(Hardtanh) = per_input([](const op::Hardtanh& op, Grad g, Input<0> x) {
  return where(logical_and(x > op.min, x < op.max), g, formulas::zeros_beside(g));
});
WEFT_GRADIENT(Softshrink) = per_input([](const op::Softshrink& op, Grad g, Input<0> x) {
  return where(abs(x) > op.width, g, formulas::zeros_beside(g));
});
WEFT_GRADIENT(Hardshrink) = per_input([](const op::Hardshrink& op, Grad g, Input<0> x) {
  return where(abs(x) > op.width, g, formulas::zeros_beside(g));
});
WEFT_GRADIENT(Threshold) = per_input([](const op::Threshold& op, Grad g, Input<0> x) {
  return where(x <= op.threshold, formulas::zeros_beside(g), g);
});
WEFT_GRADIENT(Prelu) = per_input([](Grad g, Input<0> x, Input<1> slope) { return where(x > 0.0, g, g * slope); },
                                 [](Grad g, Input<0> x) { return where(x > 0.0, formulas::zeros_beside(g), g * x); });

}  // namespace weft::autograd

// Rules of attention.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/attention.h"
#include "tensor/ops/attention.h"

namespace weft::autograd {

namespace formulas {
/// Attention of {q, k, v, mask}, with public ops.
Tensor attention_formula(const op::AttentionSetting& setting, const std::vector<Tensor>& inputs);
/// {dq, dk, dv} as a function of {g, q, k, v, mask}.
std::vector<Tensor> attention_backward_formula(const op::AttentionSetting& setting, const std::vector<Tensor>& inputs);
}  // namespace formulas

// The gradient of a trained mask (a position bias) uses the formula, as the kernel never has the gradients of all
// scores at once.
WEFT_GRADIENT(Attention) = joint([](const op::Attention& op, Grad g, Input<0> q, Input<1> k, Input<2> v, Input<3> mask,
                                    OutputOf<1> largest, OutputOf<2> factor, Into<0> dq, Into<1> dk, Into<2> dv,
                                    Needs needs) -> std::vector<Tensor> {
  if (mask.defined() && needs[3])
    return differentiate(
        [&](const std::vector<Tensor>& in) { return std::vector{formulas::attention_formula(op.setting, in)}; },
        {q, k, v, mask}, {g}, needs);
  const auto d = adjoint::attention_backward(g, q, k, v, mask, largest, factor, op.setting, {dq, dk, dv});
  return {d[0], d[1], d[2], Tensor()};
});

WEFT_GRADIENT(AttentionBackward) = joint([](const op::AttentionBackward& op, Grad dq, GradOf<1> dk, GradOf<2> dv,
                                            Input<0> g, Input<1> q, Input<2> k, Input<3> v, Input<4> mask,
                                            Needs needs) {
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return formulas::attention_backward_formula(op.setting, in); },
                    {g, q, k, v, mask}, {dq, dk, dv}, needs);
  out.resize(7);
  return out;
});

}  // namespace weft::autograd

// Rules of connectionist temporal classification. Only log_probs has a gradient.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/ctc_loss.h"
#include "tensor/ops/ctc_loss.h"

namespace weft::autograd {

namespace formulas {
/// The losses (N) of log_probs, step by step with public ops. If no alignment exists: NaN, or 0 with zero_infinity.
Tensor ctc_loss_formula(int64_t blank, bool zero_infinity, const Tensor& log_probs, const Tensor& targets,
                        const Tensor& input_lengths, const Tensor& target_lengths);
}  // namespace formulas

WEFT_GRADIENT(CtcLoss) = per_input(
    [](const op::CtcLoss& op, Grad g, Input<0> log_probs, Input<1> targets, Input<2> inputs, Input<3> lengths) {
      return adjoint::ctc_loss_backward(g, log_probs, targets, inputs, lengths, op.blank, op.zero_infinity);
    },
    no_gradient, no_gradient, no_gradient);

// The formula of the gradient is obtained by differentiating the formula of the loss.
WEFT_GRADIENT(CtcLossBackward) = joint([](const op::CtcLossBackward& op, Grad gg, Input<0> g, Input<1> log_probs,
                                          Input<2> targets, Input<3> inputs, Input<4> lengths, Needs needs) {
  const auto loss = [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{formulas::ctc_loss_formula(op.blank, op.zero_infinity, in[0], targets, inputs, lengths)};
  };
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return differentiate(loss, {in[1]}, {in[0]}, Needs{1}); },
                    {g, log_probs}, {gg}, needs);
  out.resize(5);
  return out;
});

}  // namespace weft::autograd

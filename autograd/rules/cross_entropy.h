// Rules of cross entropy. Only the logits have a gradient.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/cross_entropy.h"
#include "tensor/ops/cross_entropy.h"

namespace weft::autograd {

namespace formulas {
/// scale (sum(t) softmax(logits) - t) as a function of {scale, logits}, with public ops.
Tensor cross_entropy_formula(const op::CrossEntropyBackward& op, const Tensor& scale, const Tensor& logits,
                             const Tensor& targets, const Tensor& weight);
}  // namespace formulas

WEFT_GRADIENT(CrossEntropy) = per_input(
    [](const op::CrossEntropy& op, Grad g, Input<0> logits, Input<1> targets, Input<2> weight) -> Tensor {
      if (!g.defined()) return {};
      return adjoint::cross_entropy_backward(g, logits, targets, weight, op.ignore_index, op.label_smoothing);
    },
    no_gradient, no_gradient);

WEFT_GRADIENT(CrossEntropyBackward) = joint([](const op::CrossEntropyBackward& op, Grad gg, Input<0> scale,
                                               Input<1> logits, Input<2> targets, Input<3> weight, Needs needs) {
  std::vector<Tensor> out = differentiate(
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{formulas::cross_entropy_formula(op, in[0], in[1], targets, weight)};
      },
      {scale, logits}, {gg}, needs);
  out.resize(4);
  return out;
});

}  // namespace weft::autograd

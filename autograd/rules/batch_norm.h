// Rules of batch normalization.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/batch_norm.h"
#include "tensor/ops/batch_norm.h"

namespace weft::autograd {

namespace formulas {
/// {dx, dweight, dbias} of {g, x, weight, bias}, with public ops: the statistics are functions of x.
std::vector<Tensor> batch_norm_formula(const op::BatchNormBackward& op, const std::vector<Tensor>& inputs);
/// (x - mean) / sqrt(var + eps) * weight + bias of {x, mean, var, weight, bias}, with public ops.
Tensor batch_norm_inference_formula(const op::BatchNormInference& op, const std::vector<Tensor>& inputs);
}  // namespace formulas

WEFT_GRADIENT(BatchNorm) = joint([](const op::BatchNorm& op, Grad g, Input<0> x, Input<1> weight, Input<2> bias,
                                    OutputOf<1> mean, OutputOf<2> rstd, Needs needs) {
  return adjoint::batch_norm_backward(g, x, weight, bias, mean, rstd, op.eps, op.relu, static_cast<int>(needs.mask));
});

WEFT_GRADIENT(BatchNormBackward) = joint([](const op::BatchNormBackward& op, Grad dx, GradOf<1> dweight,
                                            GradOf<2> dbias, Input<0> g, Input<1> x, Input<2> weight, Input<3> bias,
                                            Needs needs) {
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return formulas::batch_norm_formula(op, in); },
                    {g, x, weight, bias}, {dx, dweight, dbias}, needs);
  out.resize(6);
  return out;
});

WEFT_GRADIENT(BatchNormInference) = joint([](const op::BatchNormInference& op, Grad g, Input<0> x, Input<1> mean,
                                             Input<2> var, Input<3> weight, Input<4> bias, Needs needs) {
  return differentiate(
      [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{formulas::batch_norm_inference_formula(op, in)};
      },
      {x, mean, var, weight, bias}, {g}, needs);
});

}  // namespace weft::autograd

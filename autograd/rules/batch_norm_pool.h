// Rules of batch normalization, relu and max-pooling as one op.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/batch_norm_pool.h"
#include "tensor/ops/batch_norm_pool.h"

namespace weft::autograd {

namespace formulas {
/// {dx, dweight, dbias} of {g, indices, x, weight}, with public ops.
std::vector<Tensor> batch_norm_pool_formula(const op::BatchNormReluMaxPool2dBackward& op,
                                            const std::vector<Tensor>& inputs);
}  // namespace formulas

WEFT_GRADIENT(BatchNormReluMaxPool2d) = joint([](const op::BatchNormReluMaxPool2d& op, Grad g, Input<0> x,
                                                 Input<1> weight, OutputOf<1> mean, OutputOf<2> rstd,
                                                 OutputOf<3> indices) {
  return adjoint::batch_norm_relu_max_pool2d_backward(g, indices, x, weight, mean, rstd, op.options, op.eps);
});

WEFT_GRADIENT(BatchNormReluMaxPool2dBackward) = joint([](const op::BatchNormReluMaxPool2dBackward& op, Grad dx,
                                                         GradOf<1> dweight, GradOf<2> dbias, Input<0> g,
                                                         Input<1> indices, Input<2> x, Input<3> weight, Needs needs) {
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return formulas::batch_norm_pool_formula(op, in); },
                    {g, indices, x, weight}, {dx, dweight, dbias}, needs);
  out.resize(6);
  return out;
});

}  // namespace weft::autograd

// Rules of group normalization.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/group_norm.h"
#include "tensor/ops/group_norm.h"

namespace weft::autograd {

namespace formulas {
/// {dx, dweight, dbias} of {g, x, weight}, with public ops: the statistics are functions of x.
std::vector<Tensor> group_norm_formula(const op::GroupNormBackward& op, const std::vector<Tensor>& inputs);
}  // namespace formulas

WEFT_GRADIENT(GroupNorm) = joint([](const op::GroupNorm& op, Grad g, Input<0> x, Input<1> weight, OutputOf<1> mean,
                                    OutputOf<2> rstd, Needs needs) {
  return adjoint::group_norm_backward(g, x, op.groups, weight, mean, rstd, op.eps, static_cast<int>(needs.mask));
});

WEFT_GRADIENT(GroupNormBackward) = joint([](const op::GroupNormBackward& op, Grad dx, GradOf<1> dweight,
                                            GradOf<2> dbias, Input<0> g, Input<1> x, Input<2> weight, Needs needs) {
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return formulas::group_norm_formula(op, in); }, {g, x, weight},
                    {dx, dweight, dbias}, needs);
  out.resize(5);
  return out;
});

}  // namespace weft::autograd

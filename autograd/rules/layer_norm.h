// Rules of layer normalization.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/layer_norm.h"
#include "tensor/ops/layer_norm.h"

namespace weft::autograd {

namespace formulas {
/// {dx, dweight, dbias} of {g, x, weight}, with public ops: the statistics are functions of x.
std::vector<Tensor> layer_norm_formula(const op::LayerNormBackward& op, const std::vector<Tensor>& inputs);
}  // namespace formulas

WEFT_GRADIENT(LayerNorm) = joint([](const op::LayerNorm& op, Grad g, Input<0> x, Input<1> weight, OutputOf<1> mean,
                                    OutputOf<2> rstd, Needs needs) {
  return adjoint::layer_norm_backward(g, x, op.axes, weight, mean, rstd, op.eps, static_cast<int>(needs.mask), op.rms);
});
template <> inline constexpr int recomputed_inputs<op::LayerNorm> = 3;

WEFT_GRADIENT(LayerNormBackward) = joint([](const op::LayerNormBackward& op, Grad dx, GradOf<1> dweight,
                                            GradOf<2> dbias, Input<0> g, Input<1> x, Input<2> weight, Needs needs) {
  std::vector<Tensor> out =
      differentiate([&](const std::vector<Tensor>& in) { return formulas::layer_norm_formula(op, in); }, {g, x, weight},
                    {dx, dweight, dbias}, needs);
  out.resize(5);
  return out;
});

}  // namespace weft::autograd

// Rules of sampling images at arbitrary points.
#pragma once

#include "autograd/formula.h"
#include "autograd/rule.h"
#include "tensor/adjoints/grid_sample.h"
#include "tensor/ops/grid_sample.h"

namespace weft::autograd {

namespace formulas {
/// grid_sample(x, grid) with public ops.
Tensor grid_sample_formula(const GridSampleOptions& options, const Tensor& x, const Tensor& grid);
/// {dx, dgrid} as a function of {g, x, grid}: the gradients of that formula.
std::vector<Tensor> grid_sample_backward_formula(const GridSampleOptions& options, const std::vector<Tensor>& inputs);
}  // namespace formulas

WEFT_GRADIENT(GridSample) = joint([](const op::GridSample& op, Grad g, Input<0> x, Input<1> grid, Needs needs) {
  return adjoint::grid_sample_backward(g, x, grid, op.options, static_cast<int>(needs.mask));
});

WEFT_GRADIENT(GridSampleBackward) = joint([](const op::GridSampleBackward& op, Grad dx, GradOf<1> dgrid, Input<0> g,
                                             Input<1> x, Input<2> grid, Needs needs) {
  return differentiate(
      [&](const std::vector<Tensor>& in) { return formulas::grid_sample_backward_formula(op.options, in); },
      {g, x, grid}, {dx, dgrid}, needs);
});

}  // namespace weft::autograd

// The rule of resampling. It is a linear map, and its adjoint is the transposed map.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/resample.h"

namespace weft::autograd {

WEFT_GRADIENT(Resample) = per_input([](const op::Resample& op, Grad g) {
  return adjoint::resample(g, op.lines.transpose(), op.columns.transpose());
});

}  // namespace weft::autograd

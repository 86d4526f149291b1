// The rule of a write through a view: the gradient of x is zero in the replaced part, and the source gets that part.
// Unless the gradient itself is recorded, the engine does this without a copy (autograd/run.h).
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/strided_scatter.h"
#include "tensor/functions/view.h"
#include "tensor/ops/strided_scatter.h"

namespace weft::autograd {

WEFT_GRADIENT(AsStridedScatter) = per_input(
    [](const op::AsStridedScatter& op, Grad g) {
      return as_strided_scatter(g, expand(zeros({}, g.dtype(), g.device()), op.shape), op.shape, op.strides, op.offset);
    },
    [](const op::AsStridedScatter& op, Grad g) {
      return clone(as_strided(contiguous(g), op.shape, op.strides, op.offset));
    });

}  // namespace weft::autograd

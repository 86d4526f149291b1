// Rules of ops with masks.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/cat.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/view.h"
#include "tensor/ops/masked.h"

namespace weft::autograd {

WEFT_GRADIENT(MaskedFill) = per_input([](Grad g, Input<1> mask) { return masked_fill(g, mask, 0); }, no_gradient);
WEFT_GRADIENT(MaskedSelect) =
    per_input([](Grad g, Input<1> mask) { return masked_scatter(zeros(mask.shape(), g.dtype(), g.device()), mask, g); },
              no_gradient);
WEFT_GRADIENT(MaskedScatter) =
    per_input([](Grad g, Input<1> mask) { return masked_fill(g, mask, 0); }, no_gradient,
              [](Grad g, Input<1> mask, InputType<2> source) {
                const Tensor taken = masked_select(g, mask);
                const int64_t rest = source.shape[0] - taken.numel();
                return rest == 0 ? taken : cat({taken, zeros({rest}, g.dtype(), g.device())});
              });
WEFT_GRADIENT(Nonzero) = not_differentiable("positions");
WEFT_GRADIENT(Triangle) = per_input([](const op::Triangle& op, Grad g) {
  return op.lower ? tril(g, op.diagonal) : triu(g, op.diagonal);
});

}  // namespace weft::autograd

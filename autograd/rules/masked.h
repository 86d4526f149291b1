// Rules of ops with masks.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/scan.h"
#include "tensor/functions/view.h"
#include "tensor/ops/masked.h"

namespace weft::autograd {

WEFT_GRADIENT(MaskedFill) = per_input([](Grad g, Input<1> mask) { return masked_fill(g, mask, 0); }, no_gradient);
WEFT_GRADIENT(MaskedSelect) = per_input(  //
    [](Grad g, Input<1> mask) {
      return masked_scatter(expand(zeros({}, g.dtype(), g.device()), mask.shape()), mask, g);
    },
    no_gradient);
// The index of each element in the source; elements that keep their value get the index after its last element.
WEFT_GRADIENT(MaskedScatter) = per_input(  //
    [](Grad g, Input<1> mask) { return masked_fill(g, mask, 0); }, no_gradient,
    [](Grad g, Input<1> mask, InputType<2> source) {
      const Tensor holds = reshape(mask, {-1});
      const int64_t size = source.shape[0];
      const Tensor place = where(holds, cumsum(holds, 0) - 1, size);
      return slice(adjoint::scatter_add(reshape(g, {-1}), 0, place, {size + 1}), 0, 0, size);
    });
WEFT_GRADIENT(Nonzero) = not_differentiable("positions");
WEFT_GRADIENT(Triangle) = per_input([](const op::Triangle& op, Grad g) {
  return op.lower ? tril(g, op.diagonal) : triu(g, op.diagonal);
});

}  // namespace weft::autograd

// Rules of reductions over bags of rows of a table. Indices and offsets have no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/embedding_bag.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/view.h"
#include "tensor/ops/embedding_bag.h"

namespace weft::autograd {

namespace formulas {
/// For each index, the gradient of its bag: (n, D).
inline Tensor bag_gradients(const Tensor& g, const Tensor& indices, const Tensor& offsets) {
  if (offsets.numel() == 0) return zeros({indices.numel(), g.size(1)}, g.dtype(), g.device());
  return index_select(g, 0, adjoint::bag_of_each(offsets, indices.numel()));
}
}  // namespace formulas

WEFT_GRADIENT(EmbeddingBag) = per_input(
    no_gradient,
    [](const op::EmbeddingBag& op, Grad g, Input<0> indices, ViewOf<1> weight, Input<2> offsets, Input<3> factors) {
      Tensor rows = formulas::bag_gradients(g, indices, offsets);
      if (factors.defined()) rows = rows * unsqueeze(factors, 1);
      return adjoint::embedding_backward(rows, indices, weight.shape()[0], op.padding_idx);
    },
    no_gradient,
    [](const op::EmbeddingBag& op, Grad g, Input<0> indices, Input<1> weight, Input<2> offsets) {
      const Tensor rows = formulas::bag_gradients(g, indices, offsets);
      const Tensor each = sum(rows * embedding(indices, weight), 1);
      return op.padding_idx < 0 ? each : masked_fill(each, indices == op.padding_idx, 0);
    });
WEFT_GRADIENT(EmbeddingBagArgmax) = not_differentiable("integers");

}  // namespace weft::autograd

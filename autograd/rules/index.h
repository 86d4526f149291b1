// Rules of indexing. The rules of an op and of its adjoint use each other. Indices have no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index.h"

namespace weft::autograd {

WEFT_GRADIENT(Gather) = per_input(  //
    [](const op::Gather& op, Grad g, ViewOf<0> x, Input<1> index) {
      return adjoint::scatter_add(g, op.axis, index, x.shape());
    },
    no_gradient);
WEFT_GRADIENT(ScatterAdd) = per_input(  //
    [](const op::ScatterAdd& op, Grad g, Input<1> index) { return gather(g, op.axis, index); }, no_gradient);
WEFT_GRADIENT(IndexSelect) = per_input(
    [](const op::IndexSelect& op, Grad g, ViewOf<0> x, Input<1> index) {
      if (op.axes == 1) return adjoint::index_add(g, op.axis, index, x.shape());
      int64_t rows = 1;
      for (int64_t i = op.axis; i < op.axis + op.axes; ++i) rows *= x.view.dim(i);
      return reshape(adjoint::index_add(g, op.axis, index, op::with_merged(x.shape(), op.axis, op.axes, rows)),
                     x.shape());
    },
    no_gradient);
WEFT_GRADIENT(IndexAdd) = per_input(  //
    [](const op::IndexAdd& op, Grad g, Input<1> index) { return index_select(g, op.axis, index); }, no_gradient);
WEFT_GRADIENT(Embedding) = per_input(  //
    no_gradient, [](const op::Embedding& op, Grad g, Input<0> indices, ViewOf<1> weight) {
      return adjoint::embedding_backward(g, indices, weight.shape()[0], op.padding_idx);
    });
// The row of the padding index gets no gradient in either direction.
WEFT_GRADIENT(EmbeddingBackward) = per_input(
    [](const op::EmbeddingBackward& op, Grad gg, Input<1> indices) {
      const Tensor rows = embedding(indices, gg);
      return op.padding_idx < 0 ? rows : where(unsqueeze(indices == op.padding_idx, -1), zeros_like(rows), rows);
    },
    no_gradient);
WEFT_GRADIENT(OneHot) = not_differentiable("integers");

}  // namespace weft::autograd

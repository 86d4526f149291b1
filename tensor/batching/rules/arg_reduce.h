// Batching of extrema with their indices.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/view.h"
#include "tensor/ops/arg_reduce.h"

namespace weft::batching {

WEFT_BATCHING(ExtremumWithIndices) = along_axis;

namespace detail {
/// Without an axis, the op runs on the flattened elements of each sample.
template <class Op> std::vector<Tensor> arg_extremum(Op op, const Call& call) {
  const Tensor& x = call.inputs[0].x;
  if (op.axis) {
    op.axis = *op.axis + 1;
    return call.run(op, {x});
  }
  const bool keepdim = op.keepdim;
  op.axis = 1;
  op.keepdim = false;
  Shape shape = {call.size()}, rows = {call.size(), 1};
  for (int64_t axis = 1; axis < x.rank(); ++axis) {
    rows[1] *= x.size(axis);
    if (keepdim) shape.push_back(1);
  }
  const std::vector<Tensor> out = call.run(op, {reshape(x, rows)});
  return {reshape(out[0], shape)};
}
}  // namespace detail

WEFT_BATCHING(Argmax) = [](const op::Argmax& op, const Call& call) { return detail::arg_extremum(op, call); };
WEFT_BATCHING(Argmin) = [](const op::Argmin& op, const Call& call) { return detail::arg_extremum(op, call); };

}  // namespace weft::batching

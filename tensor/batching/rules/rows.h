// Batching of ops along axes: reductions, extrema, softmax, cat, sorting, scans.
#pragma once

#include "tensor/batching/rule.h"
#include "tensor/functions/view.h"
#include "tensor/ops/arg_reduce.h"
#include "tensor/ops/cat.h"
#include "tensor/ops/pad_mode.h"
#include "tensor/ops/reduce.h"
#include "tensor/ops/scan.h"
#include "tensor/ops/search.h"
#include "tensor/ops/softmax.h"
#include "tensor/ops/sort.h"

namespace weft::batching {

namespace detail {
template <class Op> std::vector<Tensor> unpadded_batch(Op op, const Call& call) {
  op.widths.insert(op.widths.begin(), Padding{0, 0});
  return call.run(op, {call.inputs[0].x});
}
}  // namespace detail

WEFT_BATCHING(Sum) = over_axes;
WEFT_BATCHING(NanSum) = over_axes;
WEFT_BATCHING(Prod) = over_axes;
WEFT_BATCHING(Max) = over_axes;
WEFT_BATCHING(Min) = over_axes;
WEFT_BATCHING(All) = over_axes;
WEFT_BATCHING(Any) = over_axes;
WEFT_BATCHING(Logsumexp) = over_axes;
WEFT_BATCHING(Norm) = over_axes;
WEFT_BATCHING(Var) = over_axes;

WEFT_BATCHING(Softmax) = along_axis;
WEFT_BATCHING(LogSoftmax) = along_axis;
WEFT_BATCHING(SoftmaxBackward) = along_axis;
WEFT_BATCHING(LogSoftmaxBackward) = along_axis;
WEFT_BATCHING(ExtremumWithIndices) = along_axis;
WEFT_BATCHING(Cat) = along_axis;
WEFT_BATCHING(Roll) = [](op::Roll op, const Call& call) -> std::vector<Tensor> {
  op.shifts.insert(0, 0);
  return call.run(op, {call.inputs[0].x});
};
WEFT_BATCHING(PadMode) = detail::unpadded_batch<op::PadMode>;
WEFT_BATCHING(PadModeBackward) = detail::unpadded_batch<op::PadModeBackward>;

WEFT_BATCHING(Sort) = along_axis;
WEFT_BATCHING(Topk) = along_axis;
WEFT_BATCHING(Kthvalue) = along_axis;
WEFT_BATCHING(Median) = along_axis;
WEFT_BATCHING(Cumsum) = along_axis;
WEFT_BATCHING(Cumprod) = along_axis;
WEFT_BATCHING(Logcumsumexp) = along_axis;
WEFT_BATCHING(CumulativeExtremum) = along_axis;
WEFT_BATCHING(LinearRecurrence) = along_axis;
// The op accepts any leading axes.
WEFT_BATCHING(Searchsorted) = same_op;

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

// Rules of segments. Their lengths have no gradient.
#pragma once

#include "autograd/rule.h"
#include "autograd/rules/scatter.h"
#include "tensor/adjoints/segment.h"
#include "tensor/core/axis_lists.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/segment.h"
#include "tensor/functions/view.h"
#include "tensor/ops/segment.h"

namespace weft::autograd {

namespace formulas {
/// Each factor gets the product of the others of its segment.
inline Tensor segment_product_gradient(int64_t axis, const Tensor& g, const Tensor& x, const Tensor& lengths,
                                       const Tensor& y) {
  const int64_t size = x.size(axis), segments = y.size(axis);
  if (all(dispatch::all_samples(x.detach())).item<bool>())  // no factor is 0
    return adjoint::repeat_segments(g * y, lengths, axis, size) / x;
  const Tensor numbers = reshape(arange(segments, i64, x.device()), internal::shape_along(axis, x.rank(), segments));
  const Tensor index = expand(adjoint::repeat_segments(numbers, lengths, axis, size), x.shape());
  return product_backward(axis, g, ones_like(y), index, x, y)[2];
}
/// Elements that tie share the gradient evenly. So do those that are NaN, of a segment with any.
inline Tensor segment_extreme_gradient(int64_t axis, const Tensor& g, const Tensor& x, const Tensor& lengths,
                                       const Tensor& y) {
  const DType wide = is_half_precision(g.dtype()) ? f32 : g.dtype();  // holds the number of ties
  const int64_t size = x.size(axis);
  const Tensor is_best = logical_or(x == adjoint::repeat_segments(y, lengths, axis, size), isnan(x));
  const Tensor best = cast(is_best, wide);
  const Tensor ties = segment_reduce(best, "sum", lengths, axis);
  const Tensor share = cast(g, wide) / maximum(ties, ones({}, wide, g.device()));
  return cast(adjoint::repeat_segments(share, lengths, axis, size) * best, g.dtype());
}
}  // namespace formulas

WEFT_GRADIENT(SegmentSum) = per_input(
    [](const op::SegmentSum& op, Grad g, ViewOf<0> x, Input<1> lengths) {
      return adjoint::repeat_segments(g, lengths, op.axis, x.shape()[static_cast<size_t>(op.axis)]);
    },
    no_gradient);
WEFT_GRADIENT(SegmentReduce) = per_input(
    [](const op::SegmentReduce& op, Grad g, Input<0> x, Input<1> lengths, Output y) {
      return op.reduction == op::ScatterReduction::product
                 ? formulas::segment_product_gradient(op.axis, g, x, lengths, y)
                 : formulas::segment_extreme_gradient(op.axis, g, x, lengths, y);
    },
    no_gradient);
WEFT_GRADIENT(RepeatInterleave) = per_input([](const op::RepeatInterleave& op, Grad g,
                                               Input<1> lengths) { return segment_reduce(g, "sum", lengths, op.axis); },
                                            no_gradient);

}  // namespace weft::autograd

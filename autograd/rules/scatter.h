// Rules of scatter. Indices have no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/adjoints/index_put.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/scatter.h"
#include "tensor/ops/scatter.h"

namespace weft::autograd {

WEFT_GRADIENT(Scatter) = per_input(
    [](const op::Scatter& op, Grad g, Input<1> index) { return scatter(g, op.axis, index, 0); }, no_gradient,
    [](const op::Scatter& op, Grad g, Input<1> index) { return adjoint::scatter_written(g, op.axis, index); });
WEFT_GRADIENT(ScatterSum) = per_input(  //
    [](Grad g) { return g; }, no_gradient,
    [](const op::ScatterSum& op, Grad g, Input<1> index) { return gather(g, op.axis, index); });

namespace formulas {
/// The gradients of a product reduction with respect to x and src. Each factor gets the product of the other factors
/// written to the same position. If one or two of them are zero, the product is of the zeros' sum (one other zero) and
/// the rest, so that second derivatives are exact too; third ones where three are zero are not.
inline std::array<Tensor, 3> product_backward(int64_t axis, const Tensor& g, const Tensor& x, const Tensor& index,
                                              const Tensor& src, const Tensor& y) {
  const Tensor zero_x = x == 0, zero_src = src == 0;
  const Tensor zeros = scatter_add(cast(zero_x, i64), axis, index, cast(zero_src, i64));
  const Tensor rest = scatter_reduce(masked_fill(x, zero_x, 1), axis, index, masked_fill(src, zero_src, 1), "prod");
  // Values of 0 that have a history.
  const Tensor own_x = where(zero_x, x, zeros_like(x)), own_src = where(zero_src, src, zeros_like(src));
  const Tensor zero_sum = scatter_add(own_x, axis, index, own_src);
  const auto share = [](const Tensor& upstream, const Tensor& value, const Tensor& is_zero, const Tensor& all,
                        const Tensor& others, const Tensor& count, const Tensor& other_zero) {
    const Tensor safe = masked_fill(value, is_zero, 1);
    const Tensor of_zero = where(count == 1, others, masked_fill(other_zero * others, count != 2, 0));
    return upstream * where(is_zero, of_zero, all / safe);
  };
  return {share(g, x, zero_x, y, rest, zeros, zero_sum - own_x), Tensor(),
          share(gather(g, axis, index), src, zero_src, gather(y, axis, index), gather(rest, axis, index),
                gather(zeros, axis, index), gather(zero_sum, axis, index) - own_src)};
}
/// Distributes the gradient evenly to all elements that are equal to the result. NaN is equal to nothing: where the
/// result is NaN, the gradient is divided by 0, and all of them become NaN, as in PyTorch.
inline std::array<Tensor, 3> extreme_backward(const op::ScatterReduce& op, const Tensor& g, const Tensor& x,
                                              const Tensor& index, const Tensor& src, const Tensor& y) {
  const DType dtype = g.dtype(), wide = is_half_precision(dtype) ? f32 : dtype;  // holds the number of ties
  Tensor best_x = cast(x == y, wide);
  const Tensor best_src = cast(src == gather(y, op.axis, index), wide);
  const Tensor first = op.excludes_x ? zeros_like(best_x) : best_x;
  const Tensor ties = scatter_add(first, op.axis, index, best_src).detach();
  // The neutral element may be equal to the result, as -infinity is to the largest of several.
  if (op.excludes_x) best_x = masked_fill(best_x, ties > 0, 0);
  const Tensor share = cast(g, wide) / (op.excludes_x ? ties + best_x : ties);
  return {cast(share * best_x, dtype), Tensor(), cast(gather(share, op.axis, index) * best_src, dtype)};
}
}  // namespace formulas

WEFT_GRADIENT(ScatterReduce) = joint([](const op::ScatterReduce& op, Grad g, Input<0> x, Input<1> index, Input<2> src,
                                        Output y) {
  return op.reduction == op::ScatterReduction::product ? formulas::product_backward(op.axis, g, x, index, src, y)
                                                       : formulas::extreme_backward(op, g, x, index, src, y);
});

}  // namespace weft::autograd

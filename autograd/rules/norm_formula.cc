// The formulas of the fused backward kernels of normalization, with public ops.
#include "autograd/rules/batch_norm.h"
#include "autograd/rules/batch_norm_pool.h"
#include "autograd/rules/group_norm.h"
#include "autograd/rules/layer_norm.h"
#include "tensor/adjoints/pool.h"
#include "tensor/core/axis_lists.h"
#include "tensor/functions/batch_norm.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::autograd::formulas {
namespace {

/// dx = rstd (gw - mean(gw) - xhat mean(gw xhat)), dweight = sum(g xhat), dbias = sum(g) with gw = g weight; statistics
/// over `axes`, the parameters' sums over `others`.
std::vector<Tensor> norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const IntList& axes,
                                  const IntList& others, double eps, bool rms = false) {
  const Tensor centered = rms ? x : x - mean(x, axes, keepdim);
  const Tensor rstd = rsqrt(mean(square(centered), axes, keepdim) + eps);
  const Tensor xhat = centered * rstd;
  const Tensor gw = weight.defined() ? g * weight : g;
  const Tensor level = rms ? gw : gw - mean(gw, axes, keepdim);
  const Tensor dx = rstd * (level - xhat * mean(gw * xhat, axes, keepdim));
  if (others.empty()) return {dx, g * xhat, g};
  return {dx, sum(g * xhat, others), sum(g, others)};
}

/// (C) as (1, C, 1, ...).
Tensor per_channel(const Tensor& t, int64_t rank) {
  return t.defined() ? reshape(t, internal::shape_along(1, rank, t.numel())) : t;
}

}  // namespace

std::vector<Tensor> layer_norm_formula(const op::LayerNormBackward& op, const std::vector<Tensor>& inputs) {
  IntList axes, others;
  const int64_t rank = inputs[1].rank();
  for (int64_t i = 0; i < rank; ++i) (i < rank - op.axes ? others : axes).push_back(i);
  return norm_backward(inputs[0], inputs[1], inputs[2], axes, others, op.eps, op.rms);
}

std::vector<Tensor> group_norm_formula(const op::GroupNormBackward& op, const std::vector<Tensor>& inputs) {
  // (N, groups, C / groups, all other axes): statistics run along the last two.
  const Tensor& x = inputs[1];
  const int64_t channels = x.size(1), inner = channels / op.groups;
  int64_t places = 1;
  for (int64_t axis = 2; axis < x.rank(); ++axis) places *= x.size(axis);
  const Shape split = {x.size(0), op.groups, inner, places};
  const auto grouped = [&](const Tensor& t) { return reshape(t, split); };
  const Tensor weight = inputs[2].defined() ? reshape(inputs[2], {1, op.groups, inner, 1}) : inputs[2];
  std::vector<Tensor> out = norm_backward(grouped(inputs[0]), grouped(x), weight, {2, 3}, {0, 3}, op.eps);
  return {reshape(out[0], x.shape()), reshape(out[1], {channels}), reshape(out[2], {channels})};
}

std::vector<Tensor> batch_norm_formula(const op::BatchNormBackward& op, const std::vector<Tensor>& inputs) {
  const Tensor &g = inputs[0], &x = inputs[1];
  const int64_t rank = x.rank();
  const Tensor weight = per_channel(inputs[2], rank);
  const IntList axes = internal::other_axes(rank, {1});
  if (!op.relu) return norm_backward(g, x, weight, axes, axes, op.eps);
  const Tensor y = batch_norm_with_statistics(x, inputs[2], inputs[3], op.eps).y;
  return norm_backward(where(y <= 0.0, zeros_like(g), g), x, weight, axes, axes, op.eps);
}

std::vector<Tensor> batch_norm_pool_formula(const op::BatchNormReluMaxPool2dBackward& op,
                                            const std::vector<Tensor>& inputs) {
  const Tensor& x = inputs[2];
  const IntList axes = internal::other_axes(x.rank(), {1});
  // Places of 255 name no element of a window: what relu held back goes nowhere.
  const Tensor g = adjoint::max_pool2d_backward(inputs[0], inputs[1], x.shape(), op.options);
  return norm_backward(g, x, per_channel(inputs[3], x.rank()), axes, axes, op.eps);
}

Tensor batch_norm_inference_formula(const op::BatchNormInference& op, const std::vector<Tensor>& inputs) {
  const int64_t rank = inputs[0].rank();
  Tensor y = (inputs[0] - per_channel(inputs[1], rank)) * rsqrt(per_channel(inputs[2], rank) + op.eps);
  if (inputs[3].defined()) y = y * per_channel(inputs[3], rank);
  if (inputs[4].defined()) y = y + per_channel(inputs[4], rank);
  return op.relu ? relu(y) : y;
}

}  // namespace weft::autograd::formulas

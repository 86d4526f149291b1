// The formulas of attention and of its fused backward kernel, with public ops.
#include <algorithm>
#include <limits>

#include "autograd/rules/attention.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/matmul.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/softmax.h"
#include "tensor/functions/view.h"
#include "tensor/ops/dropout.h"

namespace weft::autograd::formulas {
namespace {

double lowest_of(DType dtype) {
  return dtype == f64 ? std::numeric_limits<double>::lowest() : dtype == f16 ? -65504.0 : -3.3e38;
}

/// What a mask and `causal` let be seen (undefined: everything), and what is added to the scores (may be undefined).
struct Seen {
  Tensor allowed, added;
};

Seen seen_by(const op::AttentionSetting& setting, const Tensor& mask, int64_t rows, int64_t columns, Device device) {
  if (setting.causal)
    return {unsqueeze(arange(0, rows, 1, i64, device), 1) + std::max<int64_t>(columns - rows, 0) >=
                arange(0, columns, 1, i64, device),
            Tensor()};
  if (!mask.defined()) return {};
  if (mask.dtype() == boolean) return {mask, Tensor()};
  const Tensor hidden = mask == -std::numeric_limits<double>::infinity();
  return {logical_not(hidden), where(hidden, zeros_like(mask), mask)};
}

/// (batch..., T, S), before the dropout.
Tensor probabilities(const op::AttentionSetting& setting, const Tensor& q, const Tensor& k, const Tensor& mask) {
  const Seen seen = seen_by(setting, mask, q.size(-2), k.size(-2), q.device());
  Tensor scores = matmul(q, transpose(k, -2, -1)) * setting.scale;
  if (seen.added.defined()) scores = scores + cast(seen.added, scores.dtype());
  if (!seen.allowed.defined()) return softmax(scores, -1);
  const Tensor p = softmax(where(seen.allowed, scores, full_like(scores, lowest_of(scores.dtype()))), -1);
  return where(seen.allowed, p, zeros_like(p));
}

/// The factors of the dropout, or undefined. Rows draw a multiple of 4 numbers each.
Tensor dropout_factors(const op::AttentionSetting& setting, Shape shape, DType dtype, Device device) {
  if (setting.dropout_p <= 0) return {};
  const int64_t columns = shape.back();
  shape[shape.size() - 1] = (columns + 3) / 4 * 4;
  const Tensor all =
      dispatch::apply(op::Dropout{setting.dropout_p, setting.key.seed, setting.key.offset}, ones(shape, dtype, device));
  return narrow(all, -1, 0, columns);
}

Tensor times(const Tensor& x, const Tensor& factors) { return factors.defined() ? x * factors : x; }

}  // namespace

Tensor attention_formula(const op::AttentionSetting& setting, const std::vector<Tensor>& inputs) {
  const Tensor p = probabilities(setting, inputs[0], inputs[1], inputs[3]);
  return matmul(times(p, dropout_factors(setting, p.shape(), p.dtype(), p.device())), inputs[2]);
}

std::vector<Tensor> attention_backward_formula(const op::AttentionSetting& setting, const std::vector<Tensor>& inputs) {
  const Tensor &g = inputs[0], &q = inputs[1], &k = inputs[2], &v = inputs[3];
  const Tensor p = probabilities(setting, q, k, inputs[4]);
  const Tensor factors = dropout_factors(setting, p.shape(), p.dtype(), p.device());
  const Tensor dp = times(matmul(g, transpose(v, -2, -1)), factors);
  const Tensor slope = p * (dp - sum(p * dp, -1, keepdim)) * setting.scale;
  return {matmul(slope, k), matmul(transpose(slope, -2, -1), q), matmul(transpose(times(p, factors), -2, -1), g)};
}

}  // namespace weft::autograd::formulas

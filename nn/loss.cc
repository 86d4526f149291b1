#include "nn/loss.h"

#include "nn/losses/reduce.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"

namespace weft::nn {
namespace {

using detail::operand;
using detail::operands;
using detail::reduce;
using detail::weighted;

void check_targets(const Tensor& log_probs, const Tensor& targets) {
  if (!is_integer(targets.dtype())) throw DtypeError(text("targets must be integers, not ", targets.dtype()));
  if (log_probs.rank() < 2) throw ShapeError("log_probs must be (C), (N, C) or (N, C, d1, ...)");
  Shape expected = log_probs.shape();
  expected.erase(1);
  if (targets.shape() != expected) throw ShapeError(text("targets must be ", expected, ", not ", targets.shape()));
}

}  // namespace

Tensor nll_loss(const Tensor& input, const Tensor& targets, const NllOptions& options) {
  ErrorFrame frame("nll_loss", input, targets);
  if (input.rank() == 1 && targets.rank() == 0) {
    const Tensor loss = nll_loss(input.unsqueeze(0), targets.unsqueeze(0), options);
    return loss.rank() == 0 ? loss : loss.squeeze(0);
  }
  const Tensor log_probs = operand(input);
  check_targets(log_probs, targets);
  const int64_t classes = log_probs.size(1);
  detail::check_class_weight(options.weight, classes);
  const Tensor counted = targets != options.ignore_index;
  const Tensor index = where(counted, targets, zeros_like(targets)).to(i64);
  // Left out before the product: an ignored target may point at -inf, and the mean over no target divides by 0.
  const Tensor picked = -gather(log_probs, 1, index.unsqueeze(1)).squeeze(1);
  Tensor loss = where(counted, picked, zeros_like(picked)), weight = counted;
  if (options.weight.defined()) {
    const Tensor chosen = index_select(options.weight, 0, index.flatten()).reshape(index.shape());
    weight = counted.to(log_probs.dtype()) * chosen;
    loss = loss * weight;
  }
  if (options.reduction == Reduction::none) return loss;
  if (options.reduction == Reduction::sum) return sum(loss);
  const DType wide = promote(loss.dtype(), f32);  // the sum of thousands of losses is more than f16 holds
  const Tensor total = options.weight.defined() ? sum(cast(weight, wide)) : cast(sum(weight), wide);
  return cast(sum(cast(loss, wide)) / total, loss.dtype());
}

Tensor mse_loss(const Tensor& input, const Tensor& labels, Reduction reduction) {
  ErrorFrame frame("mse_loss", input, labels);
  const auto [x, y] = operands(input, labels);
  return reduce(squared_difference(x, y), reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& labels, Reduction reduction) {
  ErrorFrame frame("l1_loss", input, labels);
  const auto [x, y] = operands(input, labels);
  return reduce(abs(x - y), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& labels, const HuberOptions& options) {
  ErrorFrame frame("huber_loss", input, labels);
  const auto [x, y] = operands(input, labels);
  return reduce(huber(x, y, options.delta), options.reduction);
}

Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, const SmoothL1Options& options) {
  ErrorFrame frame("smooth_l1_loss", x, y);
  if (!(options.beta >= 0)) throw Error(text("beta must be 0 or more, not ", options.beta));
  if (options.beta == 0) return l1_loss(x, y, options.reduction);
  return huber_loss(x, y, {.delta = options.beta, .reduction = options.reduction}) / options.beta;
}

Tensor bce_with_logits(const Tensor& input, const Tensor& labels, const BceWithLogitsOptions& options) {
  ErrorFrame frame("bce_with_logits", input, labels);
  const auto [logits, targets] = operands(input, labels);
  Tensor loss;
  if (options.pos_weight.defined()) {
    // -log s(x) = softplus(-x), -log(1 - s(x)) = softplus(x): no cancellation on either side.
    const Tensor positive = weighted(targets * softplus(-logits), options.pos_weight, "pos_weight");
    loss = positive + (1.0 - targets) * softplus(logits);
  } else {
    loss = logistic_loss(logits, targets);
  }
  return reduce(weighted(loss, options.weight, "weight"), options.reduction);
}

}  // namespace weft::nn

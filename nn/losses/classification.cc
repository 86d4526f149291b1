#include "nn/losses/classification.h"

#include <cmath>

#include "nn/losses/reduce.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

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

/// share max(log p, -100), or with `rest` share max(log(1 - p), -100), where a small p would be lost in 1 - p. The
/// gradient is 0 where it is limited. Step by step, so that each releases what the last one needed.
Tensor share_of_log(const Tensor& share, const Tensor& p, bool rest) {
  const Tensor outside = rest ? p == 1.0 : p <= std::exp(-100.0);
  Tensor x = masked_fill(p, outside, rest ? 0.0 : 1.0);
  x = rest ? log1p(-std::move(x)) : log(std::move(x));
  x = masked_fill(std::move(x), outside, -100.0);
  return share * std::move(x);
}

/// Whether all values are in [0, 1]; false for NaN.
bool are_probabilities(const Tensor& p) {
  return p.numel() == 0 || (min(p).item<double>() >= 0 && max(p).item<double>() <= 1);
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
    weight = where(counted, chosen, zeros_like(chosen));
    loss = loss * weight;
  }
  if (options.reduction == Reduction::none) return loss;
  if (options.reduction == Reduction::sum) return sum(loss);
  const DType wide = promote(loss.dtype(), f32);  // the sum of thousands of losses is more than f16 holds
  const Tensor total = options.weight.defined() ? sum(cast(weight, wide)) : cast(sum(weight), wide);
  return cast(sum(cast(loss, wide)) / total, loss.dtype());
}

Tensor bce_with_logits(const Tensor& input, const Tensor& labels, const BceWithLogitsOptions& options) {
  ErrorFrame frame("bce_with_logits", input, labels);
  const auto [logits, targets] = operands(input, labels);
  Tensor loss;
  if (options.pos_weight.defined()) {
    // -log s(x) = softplus(-x), -log(1 - s(x)) = softplus(x): no cancellation on either side.
    loss = weighted(targets * softplus(-logits), options.pos_weight, "pos_weight");
    loss = std::move(loss) + (1.0 - targets) * softplus(logits);
  } else {
    loss = logistic_loss(logits, targets);
  }
  return reduce(weighted(std::move(loss), options.weight, "weight"), options.reduction);
}

Tensor bce(const Tensor& input, const Tensor& labels, const BceOptions& options) {
  ErrorFrame frame("bce", input, labels);
  const auto [p, target] = operands(input, labels);
  if (!are_probabilities(dispatch::all_samples(p)))
    throw Error("probabilities must be in [0, 1]; for logits take bce_with_logits");
  Tensor loss = share_of_log(1.0 - target, p, true);
  loss = -(share_of_log(target, p, false) + std::move(loss));
  return reduce(weighted(std::move(loss), options.weight, "weight"), options.reduction);
}

Tensor focal_loss(const Tensor& input, const Tensor& labels, const FocalOptions& options) {
  ErrorFrame frame("focal_loss", input, labels);
  const auto [logits, target] = operands(input, labels);
  if (!(options.gamma >= 0)) throw Error(text("gamma must be 0 or more, not ", options.gamma));
  const Tensor rest = 1.0 - target;
  Tensor loss = target * softplus(-logits) + rest * softplus(logits);
  if (options.gamma > 0) {
    const Tensor wrong = sigmoid(logits) * rest + sigmoid(-logits) * target;  // 1 - p would be 0 from logits of 17 on
    // Where the dtype cannot hold the slope of the power, the loss and its gradient are 0.
    const Tensor counts = wrong > least_normal(wrong.dtype());
    loss = std::move(loss) * where(counts, pow(where(counts, wrong, 1.0), options.gamma), 0.0);
  }
  if (options.alpha >= 0) loss = loss * (target * options.alpha + rest * (1.0 - options.alpha));
  return reduce(loss, options.reduction);
}

}  // namespace weft::nn

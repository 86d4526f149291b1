#include "nn/losses/distribution.h"

#include <cmath>
#include <numbers>

#include "nn/losses/reduce.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

using detail::operand;
using detail::operands;
using detail::reduce;
using detail::weighted;

/// max(log x, -100), whose gradient is 0 where it is limited.
Tensor limited_log(const Tensor& x) {
  const Tensor inside = x > std::exp(-100.0);
  return where(inside, log(where(inside, x, ones_like(x))), full_like(x, -100.0));
}

/// t log t, 0 at 0, NaN below.
Tensor times_log(const Tensor& t) {
  const Tensor zero = t == 0.0;
  return where(zero, t * 0.0, t * log(where(zero, ones_like(t), t)));
}

}  // namespace

Tensor kl_div(const Tensor& input, const Tensor& labels, const KlDivOptions& options) {
  ErrorFrame frame("kl_div", input, labels);
  const auto [log_probs, target] = operands(input, labels);
  const Tensor loss = options.log_target ? exp(target) * (target - log_probs) : times_log(target) - target * log_probs;
  if (!options.batch_mean) return reduce(loss, options.reduction);
  if (loss.rank() == 0) return loss;
  return sum(loss) / static_cast<double>(loss.size(0));
}

Tensor bce(const Tensor& input, const Tensor& labels, const BceOptions& options) {
  ErrorFrame frame("bce", input, labels);
  const auto [p, target] = operands(input, labels);
  const Tensor inside = logical_and(p >= 0.0, p <= 1.0);  // NaN is not
  if (!all(dispatch::all_samples(inside)).item<bool>())
    throw Error("probabilities must be in [0, 1]; for logits take bce_with_logits");
  const Tensor loss = -(target * limited_log(p) + (1.0 - target) * limited_log(1.0 - p));
  return reduce(weighted(loss, options.weight, "weight"), options.reduction);
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
    loss = loss * where(counts, pow(where(counts, wrong, ones_like(wrong)), options.gamma), zeros_like(wrong));
  }
  if (options.alpha >= 0) loss = loss * (target * options.alpha + rest * (1.0 - options.alpha));
  return reduce(loss, options.reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& labels, const PoissonNllOptions& options) {
  ErrorFrame frame("poisson_nll_loss", input, labels);
  const auto [x, target] = operands(input, labels);
  Tensor loss = options.log_input ? exp(x) - target * x : x - target * log(x + options.eps);
  if (options.full) {
    const Tensor large = target > 1.0;
    const Tensor t = where(large, target, ones_like(target));
    const Tensor stirling = t * log(t) - t + log(t * (2 * std::numbers::pi)) * 0.5;
    loss = loss + where(large, stirling, zeros_like(stirling));
  }
  return reduce(loss, options.reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& labels, const Tensor& var,
                         const GaussianNllOptions& options) {
  ErrorFrame frame("gaussian_nll_loss", input, labels, var);
  const auto [x, target] = operands(input, labels);
  if (!(options.eps > 0)) throw Error(text("eps must be positive, not ", options.eps));
  Shape shorter(x.shape().begin(), x.shape().end() - (x.rank() > 0 ? 1 : 0)), single = x.shape();
  if (x.rank() > 0) single[single.size() - 1] = 1;
  if (var.shape() != x.shape() && var.shape() != single && var.shape() != shorter)
    throw ShapeError(text("var must be ", x.shape(), ", ", single, " or ", shorter, ", not ", var.shape()));
  if (any(dispatch::all_samples(var < 0.0)).item<bool>()) throw Error("var has a negative value");
  Tensor v = operand(var.shape() == x.shape() || var.shape() == single ? var : unsqueeze(var, -1));
  v = v + where(v < options.eps, options.eps - v, zeros_like(v)).detach();  // inf - inf would be NaN
  Tensor loss = (log(v) + square(x - target) / v) * 0.5;
  if (options.full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduce(loss, options.reduction);
}

}  // namespace weft::nn

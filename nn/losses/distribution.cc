#include "nn/losses/distribution.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "nn/losses/reduce.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

using detail::operand;
using detail::operands;
using detail::reduce;

/// t log t, 0 at 0, NaN below.
Tensor times_log(const Tensor& t) { return t * log(masked_fill(t, t == 0.0, 1.0)); }

}  // namespace

Tensor kl_div(const Tensor& log_probs, const Tensor& target, const KlDivOptions& options) {
  ErrorFrame frame("kl_div", log_probs, target);
  const auto [input, labels] = operands(log_probs, target);
  const Tensor loss = options.log_target ? exp(labels) * (labels - input) : times_log(labels) - labels * input;
  if (!options.batch_mean) return reduce(loss, options.reduction);
  if (loss.rank() == 0) return loss;
  const DType wide = promote(loss.dtype(), f32);  // the sum of thousands of losses is more than f16 holds
  return cast(sum(cast(loss, wide)) / static_cast<double>(loss.size(0)), loss.dtype());
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNllOptions& options) {
  ErrorFrame frame("poisson_nll_loss", x, target);
  const auto [input, labels] = operands(x, target);
  const double eps = kept_above_zero(options.eps, input.dtype());
  Tensor loss = options.log_input ? exp(input) - labels * input : input - labels * log(input + eps);
  if (options.full) {
    const Tensor small = logical_not(labels > 1.0), t = masked_fill(labels, small, 1.0);
    Tensor stirling = t * log(t) - t + log(t * (2 * std::numbers::pi)) * 0.5;
    loss = loss + masked_fill(std::move(stirling), small, 0.0);
  }
  return reduce(loss, options.reduction);
}

Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var, const GaussianNllOptions& options) {
  ErrorFrame frame("gaussian_nll_loss", x, target, var);
  const auto [input, labels] = operands(x, target);
  if (!(options.eps > 0)) throw Error(text("eps must be positive, not ", options.eps));
  const Shape shorter(input.shape().begin(), input.shape().end() - (input.rank() > 0 ? 1 : 0));
  const bool lacks_last = var.shape() == shorter && input.rank() > 0;
  const bool fits = std::equal(var.shape().begin(), var.shape().end(), input.shape().begin(), input.shape().end(),
                               [](int64_t size, int64_t of_x) { return size == 1 || size == of_x; });
  if (!lacks_last && !fits)
    throw ShapeError(text("var must be ", input.shape(), ", with a size of 1 for some of them, or ", shorter, ", not ",
                          var.shape()));
  if (any(dispatch::all_samples(var < 0.0)).item<bool>()) throw Error("var has a negative value");
  Tensor v = operand(lacks_last ? unsqueeze(var, -1) : var);
  v = v + where(v < options.eps, options.eps - v, 0.0).detach();  // inf - inf would be NaN
  Tensor loss = (log(v) + square(input - labels) / v) * 0.5;
  if (options.full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduce(loss, options.reduction);
}

}  // namespace weft::nn

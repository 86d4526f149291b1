// Losses on probability distributions and on their parameters. The definitions are PyTorch's. ShapeError unless input
// and target have the same shape; the mean is taken over all elements.
#pragma once

#include "tensor/core/reduction.h"
#include "tensor/functions/ctc_loss.h"

namespace weft::nn {

using weft::ctc_loss;
using weft::CtcOptions;

struct KlDivOptions {
  bool log_target = false;  // the target holds log-probabilities too
  Reduction reduction = Reduction::mean;
  /// The sum is divided by the size of axis 0 instead of the number of elements. This is the mathematical KL divergence
  /// (PyTorch's "batchmean"). If true, `reduction` is not used.
  bool batch_mean = false;
};

/// target (log target - log_probs), where 0 log 0 is 0. `log_probs` holds log-probabilities. NaN, as in PyTorch, where
/// target is 0 and the log-probability -inf.
Tensor kl_div(const Tensor& log_probs, const Tensor& target, const KlDivOptions& options = {});

struct PoissonNllOptions {
  bool log_input = true;  // the input is the logarithm of the rate
  bool full = false;      // adds Stirling's approximation of log(target!) where target > 1
  double eps = 1e-8;      // added to the rate before its logarithm is taken
  Reduction reduction = Reduction::mean;
};

/// exp(x) - t x if x is the logarithm of the rate, or x - t log(x + eps) if x is the rate itself.
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNllOptions& options = {});

struct GaussianNllOptions {
  bool full = false;  // adds the constant log(2 pi) / 2
  double eps = 1e-6;  // lower bound of the variance; the clamp does not affect the gradient
  Reduction reduction = Reduction::mean;
};

/// (log var + (x - t)^2 / var) / 2. `var` has x's shape, where sizes may be 1 (one variance for all), or x's shape
/// without the last axis. Error if a variance is negative, and unless eps is positive.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                         const GaussianNllOptions& options = {});

}  // namespace weft::nn

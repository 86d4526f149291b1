// Losses on probability distributions and on their parameters. The definitions are PyTorch's. ShapeError unless input
// and target have the same shape; the mean is taken over all elements.
#pragma once

#include "tensor/functions/cross_entropy.h"
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

struct BceOptions {
  Tensor weight = {};  // weight per element; broadcasts to the loss
  Reduction reduction = Reduction::mean;
};

/// Binary cross-entropy of probabilities p, -(t log p + (1 - t) log(1 - p)). The logarithms are clamped to at least
/// -100, where their gradients are 0 (PyTorch's are 1e12 at p = 0 and 1). bce_with_logits is more accurate. Error if a
/// p is NaN or outside [0, 1]. ShapeError unless the weight broadcasts to the loss.
Tensor bce(const Tensor& p, const Tensor& target, const BceOptions& options = {});
/// PyTorch's name for bce().
inline Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, const BceOptions& options = {}) {
  return bce(p, target, options);
}

struct FocalOptions {
  double alpha = 0.25;  // weight of the positive class; negative: no weighting
  double gamma = 2.0;   // focusing exponent: how strongly well-classified examples are down-weighted; 0 or more
  Reduction reduction = Reduction::mean;  // torchvision's default is none
};

/// The focal loss, alpha_t (1 - p_t)^gamma bce(p, target), from logits. p_t is the predicted probability of the target
/// class, alpha_t is alpha for target 1 and 1 - alpha for target 0; targets are in [0, 1], and between 0 and 1 both are
/// interpolated (Lin et al., arXiv 1708.02002; torchvision's sigmoid_focal_loss). Error if gamma < 0.
Tensor focal_loss(const Tensor& logits, const Tensor& target, const FocalOptions& options = {});

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

/// (log var + (x - t)^2 / var) / 2. `var` has x's shape, or x's shape with last size 1, or x's shape without the last
/// axis. Error if a variance is negative.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                         const GaussianNllOptions& options = {});

}  // namespace weft::nn

// Losses between distributions and of their parameters. The definitions are PyTorch's; input and target have one shape
// (ShapeError otherwise), and `mean` runs over all elements.
#pragma once

#include "tensor/functions/cross_entropy.h"
#include "tensor/functions/ctc_loss.h"

namespace weft::nn {

using weft::ctc_loss;
using weft::CtcOptions;

struct KlDivOptions {
  bool log_target = false;  // the target holds logarithms too
  Reduction reduction = Reduction::mean;
  bool batch_mean = false;  // the mean is over axis 0 instead (the divergence as it is written; PyTorch's "batchmean")
};

/// target (log target - log_probs), 0 where target is 0: log_probs are logarithms of probabilities.
Tensor kl_div(const Tensor& log_probs, const Tensor& target, const KlDivOptions& options = {});

struct BceProbabilityOptions {
  Tensor weight = {};  // factor per element, broadcast
  Reduction reduction = Reduction::mean;
};

/// -(t log p + (1 - t) log(1 - p)) of probabilities p; the logarithms are at least -100. bce_with_logits is more
/// accurate. Error for a p outside [0, 1].
Tensor bce(const Tensor& p, const Tensor& target, const BceProbabilityOptions& options = {});
/// PyTorch's name of bce().
inline Tensor binary_cross_entropy(const Tensor& p, const Tensor& target, const BceProbabilityOptions& options = {}) {
  return bce(p, target, options);
}

struct FocalOptions {
  double alpha = 0.25;  // weight of the positive class; negative: none
  double gamma = 2.0;   // how much less what is right counts
  Reduction reduction = Reduction::mean;
};

/// alpha_t (1 - p_t)^gamma bce of logits, p_t being the probability of the target in [0, 1] (Lin et al., arXiv
/// 1708.02002; torchvision's sigmoid_focal_loss).
Tensor focal_loss(const Tensor& logits, const Tensor& target, const FocalOptions& options = {});

struct PoissonNllOptions {
  bool log_input = true;  // the input is the logarithm of the rate
  bool full = false;      // with Stirling's approximation of log(target!) where target > 1
  double eps = 1e-8;      // added to a rate before its logarithm
  Reduction reduction = Reduction::mean;
};

/// exp(x) - t x, or x - t log(x + eps) where the input is the rate itself.
Tensor poisson_nll_loss(const Tensor& x, const Tensor& target, const PoissonNllOptions& options = {});

struct GaussianNllOptions {
  bool full = false;  // with log(2 pi) / 2
  double eps = 1e-6;  // the least variance; it gets no gradient
  Reduction reduction = Reduction::mean;
};

/// (log var + (x - t)^2 / var) / 2. var has x's shape, or 1 as its last size, or no last axis. Error for a negative
/// one.
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& target, const Tensor& var,
                         const GaussianNllOptions& options = {});

}  // namespace weft::nn

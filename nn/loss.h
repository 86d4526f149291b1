// Losses, defined as in PyTorch. The mean is taken over all elements; for class targets it is taken over the (weighted)
// targets.
#pragma once

#include "nn/losses/distribution.h"
#include "nn/losses/linear_cross_entropy.h"
#include "nn/losses/margin.h"
#include "tensor/functions/cross_entropy.h"

namespace weft::nn {

using weft::cross_entropy;
using weft::CrossEntropyOptions;
using weft::Reduction;
using weft::ReductionOptions;

struct NllOptions {
  Tensor weight = {};           // (classes): one weight per class
  int64_t ignore_index = -100;  // targets with this value are ignored
  Reduction reduction = Reduction::mean;
};

/// The negative log-likelihood, -log_probs[target]. log_probs is (N, C), (N, C, d1, ...) or (C); targets is (N), (N,
/// d1, ...) or 0-d, of an integer dtype. The mean is weighted: it is divided by the sum of the targets' weights.
/// DtypeError unless the weight is floating.
Tensor nll_loss(const Tensor& log_probs, const Tensor& targets, const NllOptions& options = {});

/// (x - y)^2. ShapeError unless x and y have the same shape: losses do not broadcast.
Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);
inline Tensor mse_loss(const Tensor& x, const Tensor& y, const ReductionOptions& options) {
  return mse_loss(x, y, options.reduction);
}
/// |x - y|. ShapeError unless x and y have the same shape.
Tensor l1_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);
inline Tensor l1_loss(const Tensor& x, const Tensor& y, const ReductionOptions& options) {
  return l1_loss(x, y, options.reduction);
}

struct HuberOptions {
  double delta = 1.0;  // the |x - y| at which the loss changes from quadratic to linear; positive
  Reduction reduction = Reduction::mean;
};

/// (x - y)^2 / 2 where |x - y| <= delta, else delta (|x - y| - delta / 2). ShapeError unless x and y have the same
/// shape, Error unless delta > 0.
Tensor huber_loss(const Tensor& x, const Tensor& y, const HuberOptions& options = {});

struct SmoothL1Options {
  double beta = 1.0;  // the |x - y| at which the loss changes from quadratic to linear; 0 gives l1_loss
  Reduction reduction = Reduction::mean;
};

/// (x - y)^2 / (2 beta) where |x - y| <= beta, else |x - y| - beta / 2. This is huber_loss with delta = beta, divided
/// by beta. ShapeError unless x and y have the same shape, Error if beta < 0.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, const SmoothL1Options& options = {});

struct BceWithLogitsOptions {
  Tensor weight = {};      // weight per element; broadcasts to the loss
  Tensor pos_weight = {};  // weight of the positive term; broadcasts to the loss
  Reduction reduction = Reduction::mean;
};

/// Binary cross-entropy of logits, -(t log s(x) + (1 - t) log(1 - s(x))) with s the sigmoid, computed without overflow.
/// Targets are in [0, 1]. ShapeError unless weight and pos_weight broadcast to the loss.
Tensor bce_with_logits(const Tensor& logits, const Tensor& targets, const BceWithLogitsOptions& options = {});
/// PyTorch's name for bce_with_logits().
inline Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets,
                                               const BceWithLogitsOptions& options = {}) {
  return bce_with_logits(logits, targets, options);
}

}  // namespace weft::nn

// Losses. The definitions are PyTorch's; `mean` runs over all elements, for classes over their (weighted) targets.
#pragma once

#include "nn/losses/distribution.h"
#include "nn/losses/margin.h"
#include "tensor/functions/cross_entropy.h"

namespace weft::nn {

using weft::cross_entropy;
using weft::CrossEntropyOptions;
using weft::Reduction;

struct NllOptions {
  Tensor weight = {};           // (classes): factor per class
  int64_t ignore_index = -100;  // targets that count for nothing
  Reduction reduction = Reduction::mean;
};

/// -log_probs[target]: log_probs (N, C), (N, C, d1, ...) or (C), targets (N), (N, d1, ...) or without axes, of an
/// integer dtype. The mean is over the targets' weights.
Tensor nll_loss(const Tensor& log_probs, const Tensor& targets, const NllOptions& options = {});

/// (x - y)^2. Both have one shape (ShapeError otherwise: nothing broadcasts by accident).
Tensor mse_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);
/// |x - y|.
Tensor l1_loss(const Tensor& x, const Tensor& y, Reduction reduction = Reduction::mean);

struct HuberOptions {
  double delta = 1.0;  // where the square turns into a line; positive
  Reduction reduction = Reduction::mean;
};

/// (x - y)^2 / 2 up to delta, delta (|x - y| - delta / 2) beyond.
Tensor huber_loss(const Tensor& x, const Tensor& y, const HuberOptions& options = {});

struct SmoothL1Options {
  double beta = 1.0;  // where the square turns into a line; 0: l1_loss
  Reduction reduction = Reduction::mean;
};

/// (x - y)^2 / (2 beta) up to beta, |x - y| - beta / 2 beyond: huber_loss divided by its delta.
Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, const SmoothL1Options& options = {});

struct BceOptions {
  Tensor weight = {};      // factor per element, broadcast
  Tensor pos_weight = {};  // factor of the positive term, broadcast
  Reduction reduction = Reduction::mean;
};

/// -(t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, computed without overflow. Targets are in [0, 1].
Tensor bce_with_logits(const Tensor& logits, const Tensor& targets, const BceOptions& options = {});
/// PyTorch's name of bce_with_logits().
inline Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& targets,
                                               const BceOptions& options = {}) {
  return bce_with_logits(logits, targets, options);
}

}  // namespace weft::nn

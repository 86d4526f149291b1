// Losses of classes, from logits or probabilities. The definitions are PyTorch's. The mean is taken over all elements;
// for class indices it is taken over the (weighted) targets.
#pragma once

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

}  // namespace weft::nn

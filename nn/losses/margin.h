// Margin losses: between a value and a class label, between classes, or between vectors. The definitions are PyTorch's;
// the mean is taken over all losses.
#pragma once

#include <functional>

#include "tensor/core/reduction.h"
#include "tensor/tensor.h"

namespace weft::nn {

/// log(1 + exp(-t x)) where the target t is 1 or -1.
Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
inline Tensor soft_margin_loss(const Tensor& x, const Tensor& target, const ReductionOptions& options) {
  return soft_margin_loss(x, target, options.reduction);
}

struct HingeEmbeddingOptions {
  double margin = 1.0;
  Reduction reduction = Reduction::mean;
};
/// x where the target t is 1, max(0, margin - x) where t is -1. x is a distance.
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, const HingeEmbeddingOptions& options = {});

struct MarginRankingOptions {
  double margin = 0.0;
  Reduction reduction = Reduction::mean;
};
/// max(0, margin - t (a - b)): a should be larger than b where the target t is 1, and b larger than a where t is -1.
/// All three have the same shape.
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           const MarginRankingOptions& options = {});

struct CosineEmbeddingOptions {
  double margin = 0.0;  // in [-1, 1]
  Reduction reduction = Reduction::mean;
};
/// 1 - cos(a, b) where the target t is 1, max(0, cos(a, b) - margin) where t is -1. a and b are (N, D) and t is (N), or
/// a and b are (D) and t is 0-d. Error unless the margin is in [-1, 1].
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             const CosineEmbeddingOptions& options = {});

struct TripletMarginOptions {
  double margin = 1.0;
  double p = 2.0;     // the order of the norm
  double eps = 1e-6;  // added to the differences
  /// Replaces |anchor - negative| by |positive - negative| where that is smaller.
  bool swap = false;
  Reduction reduction = Reduction::mean;
  /// Used instead of the norm of the difference, if given: distance(a, b), one number per pair of vectors (PyTorch's
  /// TripletMarginWithDistanceLoss).
  std::function<Tensor(const Tensor&, const Tensor&)> distance = {};
};
/// max(0, |anchor - positive| - |anchor - negative| + margin), with norms along the last axis. The three are (N, D) or
/// (D); as in PyTorch, they broadcast: one anchor may have several negatives. Error unless the margin is
/// positive.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& options = {});

struct MultiMarginOptions {
  double p = 1.0;  // 1 or 2
  double margin = 1.0;
  Tensor weight = {};  // (C): weight per target class
  Reduction reduction = Reduction::mean;
};
/// The sum over all classes c except the target of max(0, margin - x[target] + x[c])^p, divided by C. x is (N, C) and
/// target is (N) of an integer dtype, or x is (C) and target is 0-d. IndexError for a target out of range,
/// Error unless p is 1 or 2.
Tensor multi_margin_loss(const Tensor& x, const Tensor& target, const MultiMarginOptions& options = {});

/// The sum of max(0, 1 - (x[i] - x[j])) / C over all target classes i and all other classes j. x is (N, C) or (C). The
/// target has the same shape and an integer dtype: each row lists class indices and ends at its first negative value.
/// IndexError for a class that is out of range.
Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
inline Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target, const ReductionOptions& options) {
  return multilabel_margin_loss(x, target, options.reduction);
}

struct MultilabelSoftMarginOptions {
  Tensor weight = {};  // (C): weight per class
  Reduction reduction = Reduction::mean;
};
/// bce_with_logits averaged over the last axis. x and target are (..., C), target in [0, 1].
Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target,
                                   const MultilabelSoftMarginOptions& options = {});

}  // namespace weft::nn

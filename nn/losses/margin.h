// Losses that ask for a distance: between a value and its class's side, between classes, or between vectors. The
// definitions are PyTorch's; `mean` runs over all losses.
#pragma once

#include "tensor/functions/cross_entropy.h"

namespace weft::nn {

/// log(1 + exp(-t x)), t being 1 or -1.
Tensor soft_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

struct HingeEmbeddingOptions {
  double margin = 1.0;
  Reduction reduction = Reduction::mean;
};
/// x where t is 1, max(0, margin - x) where it is -1: x is a distance.
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& target, const HingeEmbeddingOptions& options = {});

struct MarginRankingOptions {
  double margin = 0.0;
  Reduction reduction = Reduction::mean;
};
/// max(0, margin - t (a - b)): a shall be larger where t is 1, b where it is -1. All have one shape.
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                           const MarginRankingOptions& options = {});

struct CosineEmbeddingOptions {
  double margin = 0.0;  // in [-1, 1]
  Reduction reduction = Reduction::mean;
};
/// 1 - cos(a, b) where t is 1, max(0, cos(a, b) - margin) where it is -1: a and b (N, D) and t (N), or (D) and ().
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& target,
                             const CosineEmbeddingOptions& options = {});

struct TripletMarginOptions {
  double margin = 1.0;
  double p = 2.0;     // of the norm
  double eps = 1e-6;  // added to differences
  bool swap = false;  // the negative's distance is the smaller of that to the anchor and that to the positive
  Reduction reduction = Reduction::mean;
};
/// max(0, |anchor - positive| - |anchor - negative| + margin), norms along the last axis.
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginOptions& options = {});

struct MultiMarginOptions {
  double p = 1.0;  // 1 or 2
  double margin = 1.0;
  Tensor weight = {};  // (C): factor per class of the target
  Reduction reduction = Reduction::mean;
};
/// mean over the classes but the target's of max(0, margin - x[target] + x[class])^p: x (N, C), target (N) of integers,
/// or (C) and (). IndexError for a target that is out of range.
Tensor multi_margin_loss(const Tensor& x, const Tensor& target, const MultiMarginOptions& options = {});

/// sum over the targets i and the classes j that are none of max(0, 1 - (x[i] - x[j])) / C: x (N, C) or (C), target of
/// integers likewise: classes, up to the first negative number of a row.
Tensor multilabel_margin_loss(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);

struct MultilabelSoftMarginOptions {
  Tensor weight = {};  // (C): factor per class
  Reduction reduction = Reduction::mean;
};
/// The mean over the last axis of bce_with_logits: x and target (..., C), target in [0, 1].
Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& target,
                                   const MultilabelSoftMarginOptions& options = {});

}  // namespace weft::nn

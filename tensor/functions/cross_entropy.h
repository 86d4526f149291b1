// Cross entropy from logits and class indices, fused.
#pragma once

#include "tensor/tensor.h"

namespace weft {

enum class Reduction { none, mean, sum };

struct CrossEntropyOptions {
  Tensor weight = {};                     // (classes): factor per class; takes no gradient
  int64_t ignore_index = -100;            // targets that count for nothing
  double label_smoothing = 0.0;           // in [0, 1]
  Reduction reduction = Reduction::mean;  // the mean is over the targets' weights, as in PyTorch
};

/// -log softmax(logits)[target], logits (N, C) or (N, C, d1, ...), targets (N) or (N, d1, ...) of an integer dtype;
/// (C) and a target without axes work too. Floating targets of the logits' shape are distributions: -sum(t log
/// softmax(logits)) with t = (1 - s) targets + s / C, times the class weights, s being the smoothing; their mean is
/// over the rows. Logits and weights promote; DtypeError unless floating. IndexError `class 3 is out of range for 3
/// classes`.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

}  // namespace weft

// Cross entropy from logits and class indices, fused.
#pragma once

#include "tensor/core/reduction.h"
#include "tensor/tensor.h"

namespace weft {

struct CrossEntropyOptions {
  Tensor weight = {};                     // (classes): factor per class; has no gradient
  int64_t ignore_index = -100;            // targets of this value contribute neither loss nor gradient
  double label_smoothing = 0.0;           // in [0, 1]
  Reduction reduction = Reduction::mean;  // mean divides by the sum of the targets' weights, as in PyTorch
};

/// -log softmax(logits)[target]. logits are (N, C) or (N, C, d1, ...), integer targets are class indices of shape (N)
/// or (N, d1, ...). logits (C) with a 0-d target work too. Floating targets of the logits' shape are class
/// probabilities. With t = (1 - s) targets + s / C, where s is the label smoothing, the loss is -sum(weight t log
/// softmax(logits)), and the mean divides by the number of rows. Reduction::none gives one loss per target (for class
/// probabilities, per row), in the shape of the class indices. The mean of no targets is NaN. The dtypes of logits and
/// weight promote; DtypeError unless floating. IndexError for a target that is not a class and not ignore_index.
/// ShapeError unless the targets' shape fits.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, const CrossEntropyOptions& options = {});

}  // namespace weft

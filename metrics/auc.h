// The area under the ROC curve.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft::metrics {

/// How likely a positive example has a higher score than a negative one, ties half each: exact, from all scores (they
/// are kept until value()).
class Auc {
 public:
  /// Scores and labels (0 or 1; bool or integers) of one shape. Error for other labels and for NaN.
  void update(const Tensor& scores, const Tensor& labels);
  /// In [0, 1]; NaN where there are no examples of one kind.
  double value() const;
  int64_t count() const;
  void reset() { scores_.clear(), labels_.clear(); }

 private:
  std::vector<Tensor> scores_, labels_;
};

}  // namespace weft::metrics

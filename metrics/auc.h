// The area under the ROC curve.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft::metrics {

/// The probability that a positive example has a higher score than a negative one; ties count as one half. It is
/// computed exactly from all scores, which are kept in memory until reset().
class Auc {
 public:
  /// Adds scores and labels (0 or 1, of any dtype) of the same shape. Error for other labels and for NaN.
  void update(const Tensor& scores, const Tensor& labels);
  /// In [0, 1]; NaN if there are no positive or no negative examples.
  double value() const;
  int64_t count() const;
  void reset() { batches_.clear(); }

 private:
  std::vector<Tensor> batches_;  // f64 (2, n): scores and labels
};

}  // namespace weft::metrics

// A running mean of numbers: of losses, of times.
#pragma once

#include "tensor/tensor.h"

namespace weft::metrics {

/// `mean.update(loss.item<double>(), batch_size);`
class Mean {
 public:
  /// A number that stands for `weight` of them. Error for a negative weight.
  void update(double value, double weight = 1);
  /// All elements of a tensor.
  void update(const Tensor& values);
  /// NaN before anything was counted.
  double value() const { return sum_ / weight_; }
  double weight() const { return weight_; }
  void reset() { sum_ = weight_ = 0; }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace weft::metrics

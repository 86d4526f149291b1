// A running mean of numbers, such as losses or times.
#pragma once

#include "tensor/tensor.h"

namespace weft::metrics {

/// A weighted mean: `mean.update(loss.item<double>(), batch_size);`
class Mean {
 public:
  /// Adds a number with this weight. Error if the weight is negative or not finite.
  void update(double value, double weight = 1);
  /// Adds all elements of a tensor.
  void update(const Tensor& values);
  /// NaN if nothing was counted.
  double value() const { return sum_ / weight_; }
  double weight() const { return weight_; }
  void reset() { sum_ = weight_ = 0; }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace weft::metrics

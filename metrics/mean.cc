#include "metrics/mean.h"

#include <cmath>

#include "tensor/all.h"

namespace weft::metrics {

void Mean::update(double value, double weight) {
  if (!(weight >= 0) || std::isinf(weight))
    throw Error(text("Mean: a weight must be finite and 0 or more, not ", weight));
  if (weight == 0) return;
  sum_ += value * weight;
  weight_ += weight;
}

void Mean::update(const Tensor& values) {
  ErrorFrame frame("Mean", values);
  sum_ += sum(values.detach().to(f64)).item<double>();
  weight_ += static_cast<double>(values.numel());
}

}  // namespace weft::metrics

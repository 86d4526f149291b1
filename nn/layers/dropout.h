// Dropout: a layer over dropout() that does nothing in evaluation.
#pragma once

#include "nn/module/layer.h"

namespace weft::nn {

/// In training, zeros each element with probability p and scales the others by 1 / (1 - p). Error unless 0 <= p <= 1.
class Dropout : public Layer<Dropout> {
 public:
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& x) const;

 private:
  double p_;
};

}  // namespace weft::nn

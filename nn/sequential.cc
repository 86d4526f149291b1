#include "nn/sequential.h"

namespace weft::nn {

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const BatchNorm* norm = LayerObserver::current() == nullptr ? steps_[i]->batch_norm() : nullptr;
    if (norm != nullptr && i + 1 < steps_.size() && steps_[i + 1]->is_relu()) {
      y = norm->forward_relu(y);
      ++i;
    } else {
      y = steps_[i]->run(y);
    }
  }
  return y;
}

}  // namespace weft::nn

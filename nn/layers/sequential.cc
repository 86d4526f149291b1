#include "nn/layers/sequential.h"

namespace weft::nn {

size_t Sequential::fused_steps(size_t index) const {
  const bool observed = LayerObserver::current() != nullptr;
  if (observed || steps_[index]->batch_norm() == nullptr) return 1;
  if (index + 1 == steps_.size() || !steps_[index + 1]->is_relu()) return 1;
  const bool images = dynamic_cast<const BatchNorm2d*>(steps_[index]->batch_norm()) != nullptr;
  return images && index + 2 < steps_.size() && steps_[index + 2]->max_pool() != nullptr ? 3 : 2;
}

Tensor Sequential::forward(const Tensor& x) const {
  Tensor y = x;
  for (size_t i = 0; i < steps_.size();) {
    const size_t count = fused_steps(i);
    if (count == 3)
      y = static_cast<const BatchNorm2d*>(steps_[i]->batch_norm())
              ->forward_relu_max_pool(y, steps_[i + 2]->max_pool()->options());
    else if (count == 2)
      y = steps_[i]->batch_norm()->forward_relu(y);
    else
      y = steps_[i]->run(y);
    i += count;
  }
  return y;
}

}  // namespace weft::nn

#include "nn/layers/sequential.h"

#include "nn/layers/conv_norm.h"

namespace weft::nn {

size_t Sequential::fused_steps(size_t index) const {
  // Hooks see every layer by itself.
  if (steps_[index]->batch_norm() == nullptr || detail::forward_hooks != 0) return 1;
  if (index + 1 == steps_.size() || !steps_[index + 1]->is_relu()) return 1;
  const bool images = steps_[index]->batch_norm2d() != nullptr;
  return images && index + 2 < steps_.size() && steps_[index + 2]->max_pool() != nullptr ? 3 : 2;
}

Sequential Sequential::remake() const {
  Sequential out;
  for (const std::unique_ptr<Step>& step : steps_) step->remake(out);
  return out;
}

size_t Sequential::conv_norm_steps(size_t index, const Tensor& x) const {
  if (steps_[index]->conv() == nullptr || index + 1 == steps_.size()) return 0;
  const BatchNorm2d* norm = steps_[index + 1]->batch_norm2d();
  if (norm == nullptr || !is_one_op(*steps_[index]->conv(), *norm, x)) return 0;
  return index + 2 < steps_.size() && steps_[index + 2]->is_relu() ? 3 : 2;
}

Tensor Sequential::forward(const Tensor& x) const {
  if (steps_.empty()) (void)is_training();  // one that was moved from is no identity: this throws
  Tensor y = x;
  for (size_t i = 0; i < steps_.size();) {
    if (const size_t together = conv_norm_steps(i, y); together != 0) {
      y = conv_norm(*steps_[i]->conv(), *steps_[i + 1]->batch_norm2d(), y, {}, together == 3);
      i += together;
      continue;
    }
    const size_t count = fused_steps(i);
    if (count == 3)
      y = steps_[i]->batch_norm2d()->forward_relu_max_pool(y, steps_[i + 2]->max_pool()->options());
    else if (count == 2)
      y = steps_[i]->batch_norm()->forward_relu(y);
    else
      y = steps_[i]->run(y);
    for (size_t fused = i + 1; fused < i + count; ++fused) steps_[fused]->announce(y);
    i += count;
  }
  return y;
}

}  // namespace weft::nn

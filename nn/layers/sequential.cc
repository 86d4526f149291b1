#include "nn/layers/sequential.h"

#include "nn/layers/activation.h"
#include "nn/layers/conv_norm.h"
#include "nn/layers/pool.h"

namespace weft::nn {

size_t Sequential::fused_steps(size_t index, size_t last) const {
  // Hooks see every layer by itself.
  if (steps_[index]->batch_norm() == nullptr || detail::forward_hooks != 0) return 1;
  if (!is_layer<ReLU>(index + 1, last)) return 1;
  return steps_[index]->batch_norm2d() != nullptr && is_layer<MaxPool2d>(index + 2, last) ? 3 : 2;
}

Sequential Sequential::remake() const {
  Sequential out;
  for (const std::unique_ptr<Step>& step : steps_) step->remake(out);
  return out;
}

size_t Sequential::conv_norm_steps(size_t index, size_t last, const Tensor& x) const {
  const auto* conv = steps_[index]->exactly<Conv2d>();
  if (conv == nullptr || index + 1 == last) return 0;
  const BatchNorm2d* norm = steps_[index + 1]->batch_norm2d();
  if (norm == nullptr || !is_one_op(*conv, *norm, x)) return 0;
  return is_layer<ReLU>(index + 2, last) ? 3 : 2;
}

Tensor Sequential::forward(const Tensor& x) const { return forward(x, 0, steps_.size()); }

Tensor Sequential::forward(const Tensor& x, size_t first, size_t last) const {
  if (steps_.empty()) (void)is_training();  // one that was moved from is no identity: this throws
  if (first > last || last > steps_.size())
    throw IndexError(text("Sequential: modules ", static_cast<int64_t>(first), " to ", static_cast<int64_t>(last),
                          " of ", steps_.size()));
  Tensor y = x;
  for (size_t i = first; i < last;) {
    if (const size_t together = conv_norm_steps(i, last, y); together != 0) {
      y = conv_norm(*steps_[i]->exactly<Conv2d>(), *steps_[i + 1]->batch_norm2d(), y, {}, together == 3);
      i += together;
      continue;
    }
    const size_t count = fused_steps(i, last);
    if (count == 3)
      y = steps_[i]->batch_norm2d()->forward_relu_max_pool(y, steps_[i + 2]->exactly<MaxPool2d>()->options());
    else if (count == 2)
      y = steps_[i]->batch_norm()->forward_relu(y);
    else if (is_layer<ReLU>(i, last))  // its input may be overwritten if nothing else holds it
      y = in_layer(
          steps_[i]->layer(), [&](const Tensor& given) { return &given == &y ? relu(std::move(y)) : relu(given); }, y);
    else
      y = steps_[i]->run(y);
    for (size_t fused = i + 1; fused < i + count; ++fused) steps_[fused]->announce(y);
    i += count;
  }
  return y;
}

}  // namespace weft::nn

#include "metrics/perplexity.h"

#include <cmath>

#include "tensor/all.h"

namespace weft::metrics {

void Perplexity::update(const Tensor& logits, const Tensor& targets) {
  ErrorFrame frame("Perplexity", logits, targets);
  const detail::Pairs pairs = detail::scores_of(logits, targets, options_.ignore_index);
  const DType dtype = is_half_precision(logits.dtype()) ? f32 : logits.dtype();
  const Tensor chosen = gather(log_softmax(pairs.predicted, 1, dtype), 1, unsqueeze(pairs.labels, 1));
  loss_ -= sum(chosen.to(f64)).item<double>();
  count_ += pairs.labels.numel();
}

double Perplexity::value() const { return std::exp(loss_ / static_cast<double>(count_)); }

}  // namespace weft::metrics

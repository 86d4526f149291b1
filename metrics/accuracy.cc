#include "metrics/accuracy.h"

#include "tensor/all.h"

namespace weft::metrics {

void Accuracy::update(const Tensor& predictions, const Tensor& labels) {
  ErrorFrame frame("Accuracy", predictions, labels);
  const detail::Pairs pairs = detail::pairs_of(predictions, labels, options_.ignore_index);
  right_ += sum(pairs.predicted == pairs.labels).item<int64_t>();
  count_ += pairs.labels.numel();
}

double Accuracy::value() const { return static_cast<double>(right_) / static_cast<double>(count_); }

TopKAccuracy::TopKAccuracy(int64_t k, const AccuracyOptions& options) : k_(k), options_(options) {
  if (k < 1) throw Error(text("TopKAccuracy: k must be 1 or more, not ", k));
}

void TopKAccuracy::update(const Tensor& scores, const Tensor& labels) {
  ErrorFrame frame("TopKAccuracy", scores, labels);
  const detail::Pairs pairs = detail::scores_of(scores, labels, options_.ignore_index);
  if (k_ > pairs.predicted.size(1))
    throw Error(text("k = ", k_, " is more than the ", pairs.predicted.size(1), " classes"));
  detail::check_no_nan(pairs.predicted);
  const Tensor best = topk(pairs.predicted, k_, 1).indices;
  right_ += sum(best == unsqueeze(pairs.labels, 1)).item<int64_t>();
  count_ += pairs.labels.numel();
}

double TopKAccuracy::value() const { return static_cast<double>(right_) / static_cast<double>(count_); }

}  // namespace weft::metrics

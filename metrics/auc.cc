#include "metrics/auc.h"

#include <limits>

#include "metrics/predictions.h"
#include "tensor/all.h"

namespace weft::metrics {

void Auc::update(const Tensor& scores, const Tensor& labels) {
  ErrorFrame frame("Auc", scores, labels);
  if (scores.shape() != labels.shape())
    throw ShapeError(text("scores and labels have one shape, not ", scores.shape(), " and ", labels.shape()));
  const Tensor flat = reshape(scores.detach().to(Device::cpu()), {scores.numel()}).to(f64);
  const Tensor kinds = reshape(labels.detach().to(Device::cpu()), {labels.numel()}).to(f64);
  if (any(logical_and(kinds != 0, kinds != 1)).item<bool>()) throw Error("a label is neither 0 nor 1");
  detail::check_no_nan(flat);
  batches_.push_back(stack({flat, kinds}));
}

double Auc::value() const {
  if (batches_.empty()) return std::numeric_limits<double>::quiet_NaN();
  const Tensor all = cat(batches_, 1), labels = all[1].to(i64);
  const auto positive = sum(labels).item<double>(), negative = static_cast<double>(labels.numel()) - positive;
  const auto [sorted, order] = sort(all[0]);
  const Tensor ordered = index_select(labels, 0, order);
  const auto* const score = sorted.data<double>();
  const auto* const label = ordered.data<int64_t>();
  // The mean rank of each score among all, ties sharing theirs: half of how many lie below and how many not above.
  int64_t twice_ranks = 0;  // of the positive ones
  for (int64_t below = 0, end = 0; below < sorted.numel(); below = end) {
    int64_t positives = 0;
    for (; end < sorted.numel() && score[end] == score[below]; ++end) positives += label[end];
    twice_ranks += positives * (below + end);
  }
  return (static_cast<double>(twice_ranks) / 2 - positive * positive / 2) / (positive * negative);
}

int64_t Auc::count() const {
  int64_t out = 0;
  for (const Tensor& batch : batches_) out += batch.size(1);
  return out;
}

}  // namespace weft::metrics

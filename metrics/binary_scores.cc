#include "metrics/binary_scores.h"

#include <limits>

#include "metrics/predictions.h"
#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// The examples with at least a certain score.
struct Above {
  double threshold;
  int64_t positive, negative;
};

/// Calls visit(above, before) for every distinct score, from the highest to the lowest, where `before` is the one
/// visited before. Returns the last one: its counts are of all examples.
template <class F> Above each_threshold(const std::vector<Tensor>& batches, const F& visit) {
  Above above = {std::numeric_limits<double>::infinity(), 0, 0};
  if (batches.empty()) return above;
  const Tensor all = cat(batches, 1);
  const auto [sorted, order] = sort(all[0]);
  const Tensor ordered = index_select(all[1], 0, order);
  const auto* const score = sorted.data<double>();
  const auto* const label = ordered.data<double>();
  for (int64_t left = sorted.numel(); left > 0;) {
    const Above before = above;
    above.threshold = score[left - 1];
    for (; left > 0 && score[left - 1] == above.threshold; --left)
      ++(label[left - 1] != 0 ? above.positive : above.negative);
    visit(above, before);
  }
  return above;
}

double share(int64_t count, int64_t all) { return static_cast<double>(count) / static_cast<double>(all); }
double precision_of(const Above& above) { return share(above.positive, above.positive + above.negative); }

/// counts / all, f64.
Tensor rates(const std::vector<int64_t>& counts, int64_t all) {
  std::vector<double> out;
  for (const int64_t count : counts) out.push_back(share(count, all));
  return Tensor::from(out);
}

}  // namespace

void BinaryScores::update(const Tensor& scores, const Tensor& labels) {
  ErrorFrame frame(name_, scores, labels);
  if (scores.shape() != labels.shape())
    throw ShapeError(text("scores and labels have one shape, not ", scores.shape(), " and ", labels.shape()));
  const Tensor flat = reshape(scores.detach().to(Device::cpu()), {scores.numel()}).to(f64);
  const Tensor kinds = reshape(labels.detach().to(Device::cpu()), {labels.numel()}).to(f64);
  if (any(logical_and(kinds != 0, kinds != 1)).item<bool>()) throw Error("a label is neither 0 nor 1");
  detail::check_no_nan(flat);
  batches_.push_back(stack({flat, kinds}));
}

int64_t BinaryScores::count() const {
  int64_t out = 0;
  for (const Tensor& batch : batches_) out += batch.size(1);
  return out;
}

double BinaryScores::auc() const {
  double twice_area = 0;  // a sum of whole numbers: exact below 2^53
  const Above all = each_threshold(batches_, [&](const Above& above, const Above& before) {
    twice_area +=
        static_cast<double>(above.negative - before.negative) * static_cast<double>(above.positive + before.positive);
  });
  return twice_area / 2 / (static_cast<double>(all.positive) * static_cast<double>(all.negative));
}

double BinaryScores::average_precision() const {
  double area = 0;
  const Above all = each_threshold(batches_, [&](const Above& above, const Above& before) {
    area += static_cast<double>(above.positive - before.positive) * precision_of(above);
  });
  return area / static_cast<double>(all.positive);
}

RocCurve BinaryScores::roc_curve() const {
  std::vector<int64_t> positive = {0}, negative = {0};
  std::vector<double> thresholds = {std::numeric_limits<double>::infinity()};
  const Above all = each_threshold(batches_, [&](const Above& above, const Above&) {
    positive.push_back(above.positive);
    negative.push_back(above.negative);
    thresholds.push_back(above.threshold);
  });
  return {rates(negative, all.negative), rates(positive, all.positive), Tensor::from(thresholds)};
}

PrecisionRecallCurve BinaryScores::precision_recall_curve() const {
  std::vector<int64_t> positive = {0};
  std::vector<double> precision = {1}, thresholds;
  const Above all = each_threshold(batches_, [&](const Above& above, const Above&) {
    positive.push_back(above.positive);
    precision.push_back(precision_of(above));
    thresholds.push_back(above.threshold);
  });
  const auto lowest_first = [](const Tensor& x) { return flip(x, {0}).contiguous(); };
  return {lowest_first(Tensor::from(precision)), lowest_first(rates(positive, all.positive)),
          lowest_first(Tensor::from(thresholds))};
}

}  // namespace weft::metrics

#include "metrics/calibration.h"

#include <cmath>
#include <limits>

#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// Probabilities of predictions and whether these are right, f64 (count).
struct Predictions {
  Tensor probability, right;
};

/// Error unless all are in [0, 1].
void check_probabilities(const Tensor& x) {
  const Tensor fits = logical_and(x >= 0, x <= 1);  // NaN does not
  if (!all(fits).item<bool>())
    throw Error(text("the probability ", masked_select(x, logical_not(fits))[0].item<double>(),
                     " is not in [0, 1]; of scores (logits), take softmax() or sigmoid() first"));
}

Predictions predictions_of(const Tensor& probabilities, const Tensor& labels, int64_t ignore_index) {
  if (probabilities.shape() == labels.shape()) {
    const int64_t n = labels.numel();
    const detail::Pairs pairs = detail::kept_scores(reshape(probabilities, {n, 1}), reshape(labels, {n}), ignore_index);
    detail::check_classes(pairs.labels, 2, "label");
    check_probabilities(pairs.predicted);
    return {select(pairs.predicted, 1, 0).to(f64), pairs.labels.to(f64)};
  }
  const detail::Pairs pairs = detail::scores_of(probabilities, labels, ignore_index);
  if (pairs.predicted.size(1) == 1)
    throw ShapeError(text("probabilities ", probabilities.shape(),
                          " are of one class; give those of class 1 the labels' shape, as by `squeeze(1)`"));
  check_probabilities(pairs.predicted);
  const auto [highest, chosen] = max_with_indices(pairs.predicted, 1);
  return {highest.to(f64), (chosen == pairs.labels).to(f64)};
}

}  // namespace

CalibrationError::CalibrationError(const CalibrationOptions& options) : options_(options) {
  ErrorFrame frame("CalibrationError");
  if (options.bins < 1) throw Error(text("the number of bins must be 1 or more, not ", options.bins));
  reset();
}

void CalibrationError::reset() { sums_ = zeros({3, options_.bins}, f64); }

void CalibrationError::update(const Tensor& probabilities, const Tensor& labels) {
  ErrorFrame frame("CalibrationError", probabilities, labels);
  const auto [probability, right] = predictions_of(probabilities, labels, options_.ignore_index);
  // The upper ends of the bins but the last.
  const Tensor ends = arange(1, options_.bins).to(f64) / static_cast<double>(options_.bins);
  const Tensor places = bucketize(probability, ends);
  const auto in_bins = [&](const Tensor& values) { return bincount(places, values, options_.bins); };
  sums_ = sums_ + stack({in_bins(ones_like(right)), in_bins(probability), in_bins(right)});
}

int64_t CalibrationError::count() const { return sum(sums_[0]).item<int64_t>(); }

/// The difference of mean probability and fraction in each bin, 0 in empty ones.
Tensor CalibrationError::gaps() const {
  const Tensor count = sums_[0];
  return abs(sums_[1] - sums_[2]) / where(count == 0, ones_like(count), count);
}

double CalibrationError::value() const { return (sum(gaps() * sums_[0]) / sum(sums_[0])).item<double>(); }

double CalibrationError::root_mean_square() const {
  return std::sqrt((sum(square(gaps()) * sums_[0]) / sum(sums_[0])).item<double>());
}

double CalibrationError::maximum() const {
  return count() == 0 ? std::numeric_limits<double>::quiet_NaN() : max(gaps()).item<double>();
}

}  // namespace weft::metrics

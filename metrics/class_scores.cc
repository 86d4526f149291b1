#include "metrics/class_scores.h"

#include <cmath>

#include "metrics/predictions.h"
#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// A mean that leaves out NaN: sum(weight value) / sum(weight). NaN if nothing is left.
class MeanOfDefined {
 public:
  void add(double value, double weight) {
    if (std::isnan(value)) return;
    sum_ += weight * value;
    weights_ += weight;
  }
  double value() const { return sum_ / weights_; }

 private:
  double sum_ = 0, weights_ = 0;
};

BinaryScores binary(const Tensor& scores, const Tensor& labels) {
  BinaryScores out;
  out.update(scores, labels);
  return out;
}

}  // namespace

ClassScores::ClassScores(const char* name, int64_t classes, const ClassOptions& options)
    : name_(name), classes_(classes), options_(options) {
  ErrorFrame frame(name);
  if (classes < 2) throw Error(text("the number of classes must be 2 or more, not ", classes));
}

void ClassScores::update(const Tensor& scores, const Tensor& labels) {
  ErrorFrame frame(name_, scores, labels);
  const detail::Pairs pairs = detail::scores_of(scores, labels, options_.ignore_index);
  if (pairs.predicted.size(1) != classes_)
    throw ShapeError(text("scores ", scores.shape(), " are of ", pairs.predicted.size(1), " classes, not ", classes_));
  detail::check_no_nan(pairs.predicted);
  batches_.push_back({clone(pairs.predicted), clone(pairs.labels)});
}

int64_t ClassScores::count() const {
  int64_t out = 0;
  for (const Batch& batch : batches_) out += batch.labels.numel();
  return out;
}

ClassScores::Batch ClassScores::all() const {
  if (batches_.empty()) return {zeros({0, classes_}), zeros({0}, i64)};
  std::vector<Tensor> scores, labels;
  for (const Batch& batch : batches_) {
    scores.push_back(batch.scores);
    labels.push_back(batch.labels);
  }
  return {cat(scores, 0), cat(labels, 0)};
}

BinaryScores ClassScores::of_class(int64_t c) const {
  ErrorFrame frame(name_);
  if (c < 0 || c >= classes_) throw IndexError(text("class ", c, " is out of range for ", classes_, " classes"));
  const Batch batch = all();
  return binary(select(batch.scores, 1, c), batch.labels == c);
}

Tensor ClassScores::of_classes(const Batch& batch, Area area) {
  std::vector<double> out;
  for (int64_t c = 0; c < batch.scores.size(1); ++c)
    out.push_back((binary(select(batch.scores, 1, c), batch.labels == c).*area)());
  return Tensor::from(out);
}

double ClassScores::averaged(Area area) const {
  const Batch batch = all();
  if (options_.average == Average::micro) return (binary(batch.scores, one_hot(batch.labels, classes_)).*area)();
  const bool weighted = options_.average == Average::weighted;
  const Tensor counts = bincount(batch.labels, {}, classes_), areas = of_classes(batch, area);
  MeanOfDefined mean;
  for (int64_t c = 0; c < classes_; ++c)
    mean.add(areas[c].item<double>(), weighted ? static_cast<double>(counts[c].item<int64_t>()) : 1);
  return mean.value();
}

double ClassScores::auc() const { return averaged(&BinaryScores::auc); }
double ClassScores::average_precision() const { return averaged(&BinaryScores::average_precision); }
Tensor ClassScores::auc_of_classes() const { return of_classes(all(), &BinaryScores::auc); }
Tensor ClassScores::average_precision_of_classes() const { return of_classes(all(), &BinaryScores::average_precision); }

double ClassScores::auc_of_pairs() const {
  ErrorFrame frame(name_);
  if (options_.average == Average::micro) throw Error("pairs of classes have no micro average; take macro or weighted");
  const Batch batch = all();
  MeanOfDefined mean;
  for (int64_t a = 0; a < classes_; ++a)
    for (int64_t b = a + 1; b < classes_; ++b) {
      const Tensor in_pair = nonzero(logical_or(batch.labels == a, batch.labels == b)).select(1, 0);
      const Tensor scores = index_select(batch.scores, 0, in_pair), labels = index_select(batch.labels, 0, in_pair);
      const double area =
          binary(select(scores, 1, a), labels == a).auc() + binary(select(scores, 1, b), labels == b).auc();
      mean.add(area / 2, options_.average == Average::weighted ? static_cast<double>(labels.numel()) : 1);
    }
  return mean.value();
}

}  // namespace weft::metrics

#include "metrics/confusion_matrix.h"

#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// a / b, 0 where both are 0.
Tensor share(const Tensor& a, const Tensor& b) {
  return where(b == 0, zeros(a.shape(), f64), a.to(f64) / where(b == 0, ones_like(b), b).to(f64));
}

/// Up to so many classes, a batch is counted faster in a matrix.
constexpr int64_t kFew = 1024;

}  // namespace

ClassCounts::ClassCounts(const char* name, int64_t classes, const ClassOptions& options, Kept kept)
    : name_(name), options_(options), classes_(classes), kept_(classes <= kFew ? Kept::matrix : kept) {
  ErrorFrame frame(name);
  if (classes < 1) throw Error(text("the number of classes must be 1 or more, not ", classes));
  counts_ = kept_ == Kept::matrix ? zeros({classes, classes}, i64)
                                  : zeros({checked_add(checked_multiply(3, classes), 1)}, i64);
}

void ClassCounts::update(const Tensor& predictions, const Tensor& labels) {
  ErrorFrame frame(name_, predictions, labels);
  const detail::Pairs pairs = detail::pairs_of(predictions, labels, options_.ignore_index);
  detail::check_classes(pairs.labels, classes_, "label");
  detail::check_classes(pairs.predicted, classes_, "prediction");
  Tensor places;
  if (kept_ == Kept::matrix) {
    places = pairs.labels * classes_ + pairs.predicted;
  } else {
    const Tensor hits = where(pairs.labels == pairs.predicted, pairs.labels + 2 * classes_, 3 * classes_);
    places = cat({pairs.labels, pairs.predicted + classes_, hits});
  }
  const int64_t count = places.numel(), size = counts_.numel();
  // Copies of this metric keep their counts. If there are few pairs, passes over them would take most of the time.
  if (count < size) {
    if (!internal::is_sole_handle(counts_)) counts_ = counts_.clone();
    counts_.view({size}).index_add_(0, places, ones({1}, i64).expand({count}));
  } else {
    counts_ = counts_ + reshape(bincount(places, {}, size), counts_.shape());
  }
}

Tensor ClassCounts::labeled() const {
  return kept_ == Kept::matrix ? sum(counts_, 1) : narrow(counts_, 0, 0, classes_);
}
Tensor ClassCounts::predicted() const {
  return kept_ == Kept::matrix ? sum(counts_, 0) : narrow(counts_, 0, classes_, classes_);
}
Tensor ClassCounts::hits() const {
  return kept_ == Kept::matrix ? diagonal(counts_) : narrow(counts_, 0, 2 * classes_, classes_);
}

int64_t ClassCounts::count() const { return sum(labeled()).item<int64_t>(); }
void ClassCounts::reset() { counts_ = zeros_like(counts_); }

double ClassCounts::accuracy() const { return sum(hits()).item<double>() / static_cast<double>(count()); }

Tensor ClassCounts::precision_of_classes() const { return share(hits(), predicted()); }
Tensor ClassCounts::recall_of_classes() const { return share(hits(), labeled()); }
Tensor ClassCounts::f1_of_classes() const { return share(hits() * 2, predicted() + labeled()); }

double ClassCounts::averaged(const Tensor& of_classes) const {
  // Each pair counts once as a label and once as a prediction: together, all three are the accuracy.
  if (options_.average == Average::micro) return accuracy();
  const Tensor labels = labeled();
  const Tensor weight = options_.average == Average::weighted ? labels : (labels + predicted() != 0).to(i64);
  return (sum(of_classes * weight.to(f64)) / sum(weight).to(f64)).item<double>();
}

double ClassCounts::precision() const { return averaged(precision_of_classes()); }
double ClassCounts::recall() const { return averaged(recall_of_classes()); }
double ClassCounts::f1() const { return averaged(f1_of_classes()); }

}  // namespace weft::metrics

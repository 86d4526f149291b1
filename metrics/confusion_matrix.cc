#include "metrics/confusion_matrix.h"

#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// a / b, 0 where both are 0.
Tensor share(const Tensor& a, const Tensor& b) {
  return where(b == 0, zeros(a.shape(), f64), a.to(f64) / where(b == 0, ones_like(b), b).to(f64));
}
Tensor hits(const Tensor& matrix) { return diagonal(matrix); }
Tensor predicted(const Tensor& matrix) { return sum(matrix, 0); }
Tensor labeled(const Tensor& matrix) { return sum(matrix, 1); }

}  // namespace

ConfusionMatrix::ConfusionMatrix(int64_t classes, const ClassOptions& options) : options_(options) {
  ErrorFrame frame("ConfusionMatrix");
  if (classes < 1) throw Error(text("the number of classes must be 1 or more, not ", classes));
  matrix_ = zeros({classes, classes}, i64);
}

void ConfusionMatrix::update(const Tensor& predictions, const Tensor& labels) {
  ErrorFrame frame("ConfusionMatrix", predictions, labels);
  const detail::Pairs pairs = detail::pairs_of(predictions, labels, options_.ignore_index);
  const int64_t classes = matrix_.size(0);
  detail::check_classes(pairs.labels, classes, "label");
  detail::check_classes(pairs.predicted, classes, "prediction");
  const Tensor places = pairs.labels * classes + pairs.predicted;
  const int64_t count = places.numel(), size = classes * classes;
  // Copies of this metric keep their matrix. If there are few pairs, passes over it would take most of the time.
  if (count < size) {
    if (!internal::is_sole_handle(matrix_)) matrix_ = matrix_.clone();
    matrix_.view({size}).index_add_(0, places, ones({1}, i64).expand({count}));
  } else {
    matrix_ = matrix_ + reshape(bincount(places, {}, size), matrix_.shape());
  }
}

int64_t ConfusionMatrix::count() const { return sum(matrix_).item<int64_t>(); }
void ConfusionMatrix::reset() { matrix_ = zeros_like(matrix_); }

double ConfusionMatrix::accuracy() const { return sum(hits(matrix_)).item<double>() / static_cast<double>(count()); }

Tensor ConfusionMatrix::precision_of_classes() const { return share(hits(matrix_), predicted(matrix_)); }
Tensor ConfusionMatrix::recall_of_classes() const { return share(hits(matrix_), labeled(matrix_)); }
Tensor ConfusionMatrix::f1_of_classes() const {
  return share(hits(matrix_) * 2, predicted(matrix_) + labeled(matrix_));
}

double ConfusionMatrix::averaged(const Tensor& of_classes) const {
  // Each pair counts once as a label and once as a prediction: together, all three are the accuracy.
  if (options_.average == Average::micro) return accuracy();
  const Tensor labels = labeled(matrix_);
  const Tensor weight = options_.average == Average::weighted ? labels : (labels + predicted(matrix_) != 0).to(i64);
  return (sum(of_classes * weight.to(f64)) / sum(weight).to(f64)).item<double>();
}

double ConfusionMatrix::precision() const { return averaged(precision_of_classes()); }
double ConfusionMatrix::recall() const { return averaged(recall_of_classes()); }
double ConfusionMatrix::f1() const { return averaged(f1_of_classes()); }

}  // namespace weft::metrics

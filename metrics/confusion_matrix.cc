#include "metrics/confusion_matrix.h"

#include <cmath>
#include <limits>

#include "tensor/all.h"

namespace weft::metrics {
namespace {

/// a / b, 0 where both are 0 (as a is where b is).
Tensor share(const Tensor& a, const Tensor& b) { return a / where(b == 0, ones_like(b), b); }

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

/// What the formulas read, as f64: of each class, or of one number each.
struct ClassCounts::Numbers {
  Tensor hits, predicted, labeled;
  Tensor count;  // of all pairs

  /// Of all classes together: every pair counts once for each class.
  Numbers together() const {
    return {sum(hits, 0, keepdim), sum(predicted, 0, keepdim), sum(labeled, 0, keepdim),
            count * static_cast<double>(hits.numel())};
  }
};

ClassCounts::Numbers ClassCounts::numbers() const {
  const Tensor labels = labeled().to(f64);
  return {hits().to(f64), predicted().to(f64), labels, sum(labels)};
}

namespace {

constexpr auto kPrecision = [](const auto& n) { return share(n.hits, n.predicted); };
constexpr auto kRecall = [](const auto& n) { return share(n.hits, n.labeled); };
constexpr auto kJaccard = [](const auto& n) { return share(n.hits, n.labeled + n.predicted - n.hits); };
constexpr auto kSpecificity = [](const auto& n) {
  const Tensor others = n.count - n.labeled;
  return share(others - n.predicted + n.hits, others);
};

auto fbeta_formula(double beta) {
  const double square = beta * beta;
  if (!(beta >= 0) || std::isinf(square)) throw Error(text("beta must be 0 or more, with a finite square, not ", beta));
  return [square](const auto& n) { return share((1 + square) * n.hits, square * n.labeled + n.predicted); };
}

}  // namespace

template <class Formula> double ClassCounts::averaged(const Formula& of_numbers) const {
  if (count() == 0) return std::numeric_limits<double>::quiet_NaN();
  const Numbers all = numbers();
  const bool is_micro = options_.average == Average::micro;
  const Tensor values = of_numbers(is_micro ? all.together() : all);
  if (is_micro) return values.item<double>();
  const Tensor weight =
      options_.average == Average::weighted ? all.labeled : (all.labeled + all.predicted != 0).to(f64);
  return sum(values * weight).item<double>() / sum(weight).item<double>();
}

double ClassCounts::precision() const { return averaged(kPrecision); }
double ClassCounts::recall() const { return averaged(kRecall); }
double ClassCounts::jaccard() const { return averaged(kJaccard); }
double ClassCounts::specificity() const { return averaged(kSpecificity); }
double ClassCounts::fbeta(double beta) const {
  ErrorFrame frame(name_);
  return averaged(fbeta_formula(beta));
}

Tensor ClassCounts::precision_of_classes() const { return kPrecision(numbers()); }
Tensor ClassCounts::recall_of_classes() const { return kRecall(numbers()); }
Tensor ClassCounts::jaccard_of_classes() const { return kJaccard(numbers()); }
Tensor ClassCounts::specificity_of_classes() const { return kSpecificity(numbers()); }
Tensor ClassCounts::fbeta_of_classes(double beta) const {
  ErrorFrame frame(name_);
  return fbeta_formula(beta)(numbers());
}

double ClassCounts::balanced_accuracy() const {
  const Tensor occurs = (labeled() != 0).to(f64);
  return (sum(recall_of_classes() * occurs) / sum(occurs)).item<double>();
}

double ClassCounts::matthews_correlation() const {
  const Numbers all = numbers();
  const auto count = all.count.item<double>();
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  // Covariances of labels and predictions that are vectors with a 1 in place of the class, times count^2.
  const auto covariance = [&](const Tensor& together, const Tensor& a, const Tensor& b) {
    return count * sum(together).item<double>() - sum(a * b).item<double>();
  };
  const double both = covariance(all.hits, all.labeled, all.predicted);
  const double scale = std::sqrt(covariance(all.labeled, all.labeled, all.labeled) *
                                 covariance(all.predicted, all.predicted, all.predicted));
  return scale == 0 ? 0 : both / scale;
}

double ConfusionMatrix::cohen_kappa(KappaWeights weights) const {
  const Tensor pairs = counts().to(f64), classes = arange(pairs.size(0)).to(f64);
  const Tensor distance = abs(unsqueeze(classes, 1) - classes);
  const Tensor weight = weights == KappaWeights::none     ? (distance != 0).to(f64)
                        : weights == KappaWeights::linear ? distance
                                                          : square(distance);
  const Tensor expected = unsqueeze(sum(pairs, 1), 1) * sum(pairs, 0) / sum(pairs);
  return 1 - (sum(weight * pairs) / sum(weight * expected)).item<double>();
}

FBeta::FBeta(int64_t classes, double beta, const ClassOptions& options)
    : ClassCounts("FBeta", classes, options, Kept::totals), beta_(beta) {
  (void)value();  // checks beta
}

}  // namespace weft::metrics

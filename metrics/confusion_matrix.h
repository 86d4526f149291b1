// Confusion matrices, and what is computed from them: precision, recall, F scores, specificity, the Jaccard index,
// balanced accuracy, Matthews correlation and Cohen's kappa.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

/// How per-class values are averaged. macro: their mean. weighted: the mean weighted by the number of labels of each
/// class. micro: computed from the counts of all classes together; for precision, recall and F scores that is the
/// accuracy. Classes that occur neither as label nor as prediction are left out of the mean (as in scikit-learn).
enum class Average { macro, weighted, micro };

struct ClassOptions {
  Average average = Average::macro;
  int64_t ignore_index = kIgnoreIndex;  // pairs with this label are ignored
};

/// What is computed from how often each class is a label, a prediction, and both.
class ClassCounts {
 public:
  /// Adds a batch: scores (n, classes, ...) or predicted classes (n, ...), and labels (n, ...). IndexError for a class
  /// out of range.
  void update(const Tensor& predictions, const Tensor& labels);
  int64_t count() const;
  void reset();

  /// The fraction of counts on the diagonal. Like all the others, NaN if nothing was counted.
  double accuracy() const;
  /// Precision (correct / predicted), recall (correct / labeled) and their harmonic mean, averaged over classes. A
  /// class where the ratio is 0 / 0 has the value 0.
  double precision() const;
  double recall() const;
  double f1() const { return fbeta(1); }
  /// The weighted harmonic mean of both, in which recall counts beta times as much as precision: (1 + beta^2) correct /
  /// (beta^2 labeled + predicted). Error unless beta is 0 or more and its square finite.
  double fbeta(double beta) const;
  /// Intersection over union: correct / (labeled + predicted - correct).
  double jaccard() const;
  /// The recall of "not this class": the fraction of the pairs with another label that have another prediction.
  double specificity() const;
  /// The same values per class: f64 (classes).
  Tensor precision_of_classes() const;
  Tensor recall_of_classes() const;
  Tensor f1_of_classes() const { return fbeta_of_classes(1); }
  Tensor fbeta_of_classes(double beta) const;
  Tensor jaccard_of_classes() const;
  Tensor specificity_of_classes() const;

  /// The mean recall of the classes that occur as labels. (A class that is only predicted has a recall of 0 in the
  /// macro average of recall(), and is left out here, as in scikit-learn.)
  double balanced_accuracy() const;
  /// The correlation of labels and predictions, in [-1, 1], for any number of classes (Gorodkin, Comput. Biol. Chem.
  /// 28, 2004). 0 if all labels or all predictions are of one class.
  double matthews_correlation() const;

 protected:
  enum class Kept { totals, matrix };
  /// Error if classes < 1. Errors begin with `name`, the class.
  ClassCounts(const char* name, int64_t classes, const ClassOptions& options, Kept kept);
  const Tensor& counts() const { return counts_; }

 private:
  struct Numbers;
  Numbers numbers() const;
  Tensor hits() const;
  Tensor predicted() const;
  Tensor labeled() const;
  template <class Formula> double averaged(const Formula& of_numbers) const;
  const char* name_;
  ClassOptions options_;
  int64_t classes_;
  Kept kept_;
  Tensor counts_;  // i64: the matrix; or labels, predictions and hits of each class, and the number of misses
};

/// How much a wrong prediction counts in Cohen's kappa. none: all the same. linear and quadratic: by the difference of
/// the two classes' numbers, or its square, for classes that have an order.
enum class KappaWeights { none, linear, quadratic };

/// Counts of (label, prediction).
class ConfusionMatrix : public ClassCounts {
 public:
  /// Error if classes < 1.
  explicit ConfusionMatrix(int64_t classes, const ClassOptions& options = {})
      : ConfusionMatrix("ConfusionMatrix", classes, options) {}
  /// The counts as i64 (classes, classes): rows are labels, columns are predictions.
  Tensor matrix() const { return counts().clone(); }
  /// Cohen's kappa: 1 - (the weighted number of errors) / (its expectation if predictions did not depend on labels). At
  /// most 1. NaN if no error can be expected, because all labels and predictions are of one class (as in scikit-learn).
  double cohen_kappa(KappaWeights weights = KappaWeights::none) const;

 protected:
  ConfusionMatrix(const char* name, int64_t classes, const ClassOptions& options)
      : ClassCounts(name, classes, options, Kept::matrix) {}
};

/// Metrics whose value() is one of these numbers. For many classes, their memory is in proportion to the number of
/// classes.
class Precision : public ClassCounts {
 public:
  explicit Precision(int64_t classes, const ClassOptions& options = {})
      : ClassCounts("Precision", classes, options, Kept::totals) {}
  double value() const { return precision(); }
};
class Recall : public ClassCounts {
 public:
  explicit Recall(int64_t classes, const ClassOptions& options = {})
      : ClassCounts("Recall", classes, options, Kept::totals) {}
  double value() const { return recall(); }
};
class F1 : public ClassCounts {
 public:
  explicit F1(int64_t classes, const ClassOptions& options = {}) : ClassCounts("F1", classes, options, Kept::totals) {}
  double value() const { return f1(); }
};
class FBeta : public ClassCounts {
 public:
  /// Error unless beta is 0 or more and its square finite.
  FBeta(int64_t classes, double beta, const ClassOptions& options = {});
  double value() const { return fbeta(beta_); }

 private:
  double beta_;
};
class JaccardIndex : public ClassCounts {
 public:
  explicit JaccardIndex(int64_t classes, const ClassOptions& options = {})
      : ClassCounts("JaccardIndex", classes, options, Kept::totals) {}
  double value() const { return jaccard(); }
};
class Specificity : public ClassCounts {
 public:
  explicit Specificity(int64_t classes, const ClassOptions& options = {})
      : ClassCounts("Specificity", classes, options, Kept::totals) {}
  double value() const { return specificity(); }
};

struct LabelOptions {
  int64_t ignore_index = kIgnoreIndex;  // pairs with this label are ignored
};
class BalancedAccuracy : public ClassCounts {
 public:
  explicit BalancedAccuracy(int64_t classes, const LabelOptions& options = {})
      : ClassCounts("BalancedAccuracy", classes, {.ignore_index = options.ignore_index}, Kept::totals) {}
  double value() const { return balanced_accuracy(); }
};
class MatthewsCorrelation : public ClassCounts {
 public:
  explicit MatthewsCorrelation(int64_t classes, const LabelOptions& options = {})
      : ClassCounts("MatthewsCorrelation", classes, {.ignore_index = options.ignore_index}, Kept::totals) {}
  double value() const { return matthews_correlation(); }
};

struct CohenKappaOptions {
  KappaWeights weights = KappaWeights::none;
  int64_t ignore_index = kIgnoreIndex;  // pairs with this label are ignored
};
/// Keeps the whole matrix, for the weights.
class CohenKappa : public ConfusionMatrix {
 public:
  explicit CohenKappa(int64_t classes, const CohenKappaOptions& options = {})
      : ConfusionMatrix("CohenKappa", classes, {.ignore_index = options.ignore_index}), weights_(options.weights) {}
  double value() const { return cohen_kappa(weights_); }

 private:
  KappaWeights weights_;
};

}  // namespace weft::metrics

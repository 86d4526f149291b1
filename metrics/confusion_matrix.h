// Confusion matrices, and precision, recall and F1 computed from them.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

/// How per-class values are averaged. macro: their mean. weighted: the mean weighted by the number of labels of each
/// class. micro: computed from the counts of all classes together. Classes that occur neither as label nor as
/// prediction are left out of the mean (as in scikit-learn).
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
  double f1() const;
  /// The same values per class: f64 (classes).
  Tensor precision_of_classes() const;
  Tensor recall_of_classes() const;
  Tensor f1_of_classes() const;

 protected:
  enum class Kept { totals, matrix };
  /// Error if classes < 1. Errors begin with `name`, the class.
  ClassCounts(const char* name, int64_t classes, const ClassOptions& options, Kept kept);
  const Tensor& counts() const { return counts_; }

 private:
  Tensor hits() const;
  Tensor predicted() const;
  Tensor labeled() const;
  double averaged(const Tensor& of_classes) const;
  const char* name_;
  ClassOptions options_;
  int64_t classes_;
  Kept kept_;
  Tensor counts_;  // i64: the matrix; or labels, predictions and hits of each class, and the number of misses
};

/// Counts of (label, prediction).
class ConfusionMatrix : public ClassCounts {
 public:
  /// Error if classes < 1.
  explicit ConfusionMatrix(int64_t classes, const ClassOptions& options = {})
      : ClassCounts("ConfusionMatrix", classes, options, Kept::matrix) {}
  /// The counts as i64 (classes, classes): rows are labels, columns are predictions.
  Tensor matrix() const { return counts().clone(); }
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

}  // namespace weft::metrics

// Which classes are taken for which, and what follows from it: precision, recall, F1.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

/// How numbers of classes become one: their mean; the mean weighted by how often each label occurs; that of all pairs
/// counted together. Classes that occur neither as label nor as prediction are no part of a mean (as in scikit-learn).
enum class Average { macro, weighted, micro };

struct ClassOptions {
  Average average = Average::macro;
  int64_t ignore_index = kIgnoreNone;  // pairs with this label are left out
};

/// Counts of (label, prediction).
class ConfusionMatrix {
 public:
  /// Error where classes < 1.
  explicit ConfusionMatrix(int64_t classes, const ClassOptions& options = {});
  /// Scores (n, classes, ...) or classes (n, ...), for labels (n, ...). IndexError for a class out of range.
  void update(const Tensor& predictions, const Tensor& labels);
  /// (classes, classes), i64: row: the label, column: the prediction.
  Tensor matrix() const { return matrix_.clone(); }
  int64_t count() const;
  void reset();

  /// The share on the diagonal. NaN before anything was counted, as all the others.
  double accuracy() const;
  /// right / predicted, right / labelled, and their harmonic mean, averaged; 0 for a class where that is 0 / 0.
  double precision() const;
  double recall() const;
  double f1() const;
  /// The same per class: f64 (classes).
  Tensor precision_of_classes() const;
  Tensor recall_of_classes() const;
  Tensor f1_of_classes() const;

 private:
  double averaged(const Tensor& of_classes) const;
  ClassOptions options_;
  Tensor matrix_;
};

/// One number of a confusion matrix.
class Precision : public ConfusionMatrix {
 public:
  using ConfusionMatrix::ConfusionMatrix;
  double value() const { return precision(); }
};
class Recall : public ConfusionMatrix {
 public:
  using ConfusionMatrix::ConfusionMatrix;
  double value() const { return recall(); }
};
class F1 : public ConfusionMatrix {
 public:
  using ConfusionMatrix::ConfusionMatrix;
  double value() const { return f1(); }
};

}  // namespace weft::metrics

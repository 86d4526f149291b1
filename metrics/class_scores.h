// Metrics of scores of several classes over all thresholds: areas under the ROC and precision-recall curves.
#pragma once

#include <vector>

#include "metrics/binary_scores.h"
#include "metrics/confusion_matrix.h"

namespace weft::metrics {

/// Areas of each class against the others, computed exactly from all scores, which are kept in memory until reset().
/// A class where an area is NaN (no label is this class, or for the ROC curve all labels are) is left out of means;
/// scikit-learn refuses such labels, torchmetrics counts 0 for it.
class ClassScores {
 public:
  /// Error if classes < 2.
  explicit ClassScores(int64_t classes, const ClassOptions& options = {})
      : ClassScores("ClassScores", classes, options) {}
  /// Adds a batch: scores (n, classes, ...) and labels (n, ...). Any scores that order the examples of a class will do;
  /// logits order them differently from softmax() of the logits. Error for NaN, IndexError for a label that is none of
  /// the classes.
  void update(const Tensor& scores, const Tensor& labels);
  int64_t count() const;
  void reset() { batches_.clear(); }

  /// The area under the ROC curve of each class against all others, averaged (roc_auc_score(multi_class="ovr")). micro:
  /// the area of all scores together, each of which is positive where it is the label's. NaN if there is no such area.
  double auc() const;
  /// The mean over pairs of classes, of the examples of these two alone: the mean of the area with the scores of the
  /// first and that with the scores of the second (Hand and Till, Machine Learning 45, 2001;
  /// roc_auc_score(multi_class="ovo")). weighted: by the number of examples of each pair. Error for micro.
  double auc_of_pairs() const;
  /// The average precision of each class against all others, averaged.
  double average_precision() const;
  /// The same per class: f64 (classes), NaN where it is not defined.
  Tensor auc_of_classes() const;
  Tensor average_precision_of_classes() const;
  /// The scores of class c against all others, for curves. IndexError unless c is in [0, classes).
  BinaryScores of_class(int64_t c) const;

 protected:
  ClassScores(const char* name, int64_t classes, const ClassOptions& options);

 private:
  struct Batch {
    Tensor scores;  // (n, classes)
    Tensor labels;  // i64 (n)
  };
  using Area = double (BinaryScores::*)() const;
  Batch all() const;
  static Tensor of_classes(const Batch& batch, Area area);
  double averaged(Area area) const;
  const char* name_;
  int64_t classes_;
  ClassOptions options_;
  std::vector<Batch> batches_;
};

/// Metrics whose value() is auc() or average_precision().
class MulticlassAuc : public ClassScores {
 public:
  explicit MulticlassAuc(int64_t classes, const ClassOptions& options = {})
      : ClassScores("MulticlassAuc", classes, options) {}
  double value() const { return auc(); }
};
class MulticlassAveragePrecision : public ClassScores {
 public:
  explicit MulticlassAveragePrecision(int64_t classes, const ClassOptions& options = {})
      : ClassScores("MulticlassAveragePrecision", classes, options) {}
  double value() const { return average_precision(); }
};

}  // namespace weft::metrics

// Metrics of scores of two classes over all thresholds: ROC and precision-recall curves, and the areas under them.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft::metrics {

/// One point per distinct score, from the highest to the lowest, when examples with this score or a higher one are
/// predicted positive; before them the point (0, 0), with the threshold infinity. All f64 (points + 1).
struct RocCurve {
  Tensor false_positive_rate;  // NaN if there are no negative examples
  Tensor true_positive_rate;   // NaN if there are no positive examples
  Tensor thresholds;
};

/// One point per distinct score, from the lowest to the highest, when examples with this score or a higher one are
/// predicted positive; behind them the point of precision 1 and recall 0, without a threshold. All f64.
struct PrecisionRecallCurve {
  Tensor precision;   // (points + 1)
  Tensor recall;      // (points + 1); NaN if there are no positive examples
  Tensor thresholds;  // (points)
};

/// Curves and areas, computed exactly from all scores, which are kept in memory until reset(). For several classes, see
/// ClassScores.
class BinaryScores {
 public:
  BinaryScores() : BinaryScores("BinaryScores") {}
  /// Adds scores and labels (0 or 1, of any dtype) of the same shape. Error for other labels and for NaN.
  void update(const Tensor& scores, const Tensor& labels);
  int64_t count() const;
  void reset() { batches_.clear(); }

  /// The area under the ROC curve: the probability that a positive example has a higher score than a negative one; ties
  /// count as one half. In [0, 1]; NaN if there are no positive or no negative examples.
  double auc() const;
  /// The mean precision over the positive examples: the sum over thresholds of the precision, times how much the recall
  /// rises there (scikit-learn's average_precision_score; no interpolation). NaN if there are no positive examples.
  double average_precision() const;
  /// The curves that scikit-learn computes, with all points (`drop_intermediate=False`).
  RocCurve roc_curve() const;
  PrecisionRecallCurve precision_recall_curve() const;

 protected:
  explicit BinaryScores(const char* name) : name_(name) {}

 private:
  const char* name_;
  std::vector<Tensor> batches_;  // f64 (2, n): scores and labels
};

/// Metrics whose value() is auc() or average_precision().
class Auc : public BinaryScores {
 public:
  Auc() : BinaryScores("Auc") {}
  double value() const { return auc(); }
};
class AveragePrecision : public BinaryScores {
 public:
  AveragePrecision() : BinaryScores("AveragePrecision") {}
  double value() const { return average_precision(); }
};

}  // namespace weft::metrics

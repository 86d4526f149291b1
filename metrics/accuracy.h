// Shares of right predictions.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

struct AccuracyOptions {
  int64_t ignore_index = kIgnoreNone;  // pairs with this label are left out
};

/// How many of the predictions are right, over all batches:
///   accuracy.update(model(images), labels);
class Accuracy {
 public:
  explicit Accuracy(const AccuracyOptions& options = {}) : options_(options) {}
  /// Scores (n, classes, ...) or classes (n, ...), for labels (n, ...).
  void update(const Tensor& predictions, const Tensor& labels);
  /// In [0, 1]; NaN before anything was counted.
  double value() const;
  int64_t count() const { return count_; }
  void reset() { right_ = count_ = 0; }

 private:
  AccuracyOptions options_;
  int64_t right_ = 0, count_ = 0;
};

/// How often the label is among the k highest scores (of equals the first). Error where k < 1 or above the classes.
class TopKAccuracy {
 public:
  explicit TopKAccuracy(int64_t k, const AccuracyOptions& options = {});
  /// Scores (n, classes, ...) for labels (n, ...).
  void update(const Tensor& scores, const Tensor& labels);
  double value() const;
  int64_t count() const { return count_; }
  void reset() { right_ = count_ = 0; }

 private:
  int64_t k_;
  AccuracyOptions options_;
  int64_t right_ = 0, count_ = 0;
};

}  // namespace weft::metrics

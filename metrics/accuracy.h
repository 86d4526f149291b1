// Accuracy and top-k accuracy.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

struct AccuracyOptions {
  int64_t ignore_index = kIgnoreIndex;  // pairs with this label are ignored
};

/// The fraction of correct predictions, over all batches:
///   accuracy.update(model(images), labels);
class Accuracy {
 public:
  explicit Accuracy(const AccuracyOptions& options = {}) : options_(options) {}
  /// Adds a batch: scores (n, classes, ...) or predicted classes (n, ...), and labels (n, ...). With scores, IndexError
  /// if a label is not in [0, classes), and Error if a score is NaN; pairs with an ignored label are not looked at.
  void update(const Tensor& predictions, const Tensor& labels);
  /// In [0, 1]; NaN if nothing was counted.
  double value() const;
  int64_t count() const { return count_; }
  void reset() { right_ = count_ = 0; }

 private:
  AccuracyOptions options_;
  int64_t right_ = 0, count_ = 0;
};

/// The fraction of examples whose label is among the k highest scores (among equal scores, the first ones). Error if k
/// < 1 or k is larger than the number of classes.
class TopKAccuracy {
 public:
  explicit TopKAccuracy(int64_t k, const AccuracyOptions& options = {});
  /// Adds a batch: scores (n, classes, ...) and labels (n, ...). IndexError if a label is not in [0, classes), Error if
  /// a score is NaN.
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

// Calibration: whether predictions are right as often as their probabilities say.
#pragma once

#include "metrics/predictions.h"

namespace weft::metrics {

struct CalibrationOptions {
  int64_t bins = 15;
  int64_t ignore_index = kIgnoreIndex;  // pairs with this label are ignored
};

/// Divides predictions by their probability into bins of equal width, and compares in each bin the mean probability
/// with the fraction of predictions that are right (Guo et al., arXiv 1706.04599). Bin i, from 0, holds probabilities
/// in (i / bins, (i + 1) / bins], and the first one 0 too.
class CalibrationError {
 public:
  /// Error if bins < 1.
  explicit CalibrationError(const CalibrationOptions& options = {});
  /// Adds a batch: probabilities (n, classes, ...), as from softmax(), and labels (n, ...), where the class of the
  /// highest probability is the prediction; or probabilities of class 1 and labels 0 or 1 of the same shape. Error for
  /// a probability that is not in [0, 1], IndexError for a label that is none of the classes.
  void update(const Tensor& probabilities, const Tensor& labels);
  /// The expected calibration error (ECE): the mean over predictions of the difference in their bin. Like the others in
  /// [0, 1], and NaN if nothing was counted.
  double value() const;
  /// The root of the mean squared difference.
  double root_mean_square() const;
  /// The largest difference of all bins (MCE).
  double maximum() const;
  int64_t count() const;
  void reset();

 private:
  Tensor gaps() const;
  CalibrationOptions options_;
  Tensor sums_;  // f64 (3, bins): the number of predictions, their probabilities, and how many are right
};

}  // namespace weft::metrics

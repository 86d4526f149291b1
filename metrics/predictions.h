// Converts predictions and labels to class indices, for the classification metrics.
#pragma once

#include "tensor/tensor.h"

namespace weft::metrics {

namespace detail {

/// Predictions, classes as i64 (count) or scores (count, classes), and labels, i64 (count), on the CPU.
struct Pairs {
  Tensor predicted;
  Tensor labels;
};

/// `predictions` are either classes (integers) with the labels' shape, or scores (n, classes, ...) for labels (n, ...).
/// Pairs whose label is `ignore_index` are left out. ShapeError or DtypeError otherwise, and for scores of one class;
/// Error if a score is NaN; IndexError if a label is none of the classes that have scores.
Pairs pairs_of(const Tensor& predictions, const Tensor& labels, int64_t ignore_index);
/// Scores (count, classes) and labels (count) of the pairs that are not ignored, whatever the labels are. ShapeError
/// unless the scores are (n, classes, ...) for labels (n, ...), with at least one class.
Pairs kept_scores(const Tensor& predictions, const Tensor& labels, int64_t ignore_index);
/// The same. IndexError if a label is not in [0, classes).
Pairs scores_of(const Tensor& predictions, const Tensor& labels, int64_t ignore_index);

/// IndexError if a number of `list` is not in [0, classes); `what` says what the numbers are.
void check_classes(const Tensor& list, int64_t classes, const char* what);
/// Error if one of the scores is NaN.
void check_no_nan(const Tensor& scores);

}  // namespace detail

/// The default of ignore_index is that of cross_entropy(): labels of padding need no option.
inline constexpr int64_t kIgnoreIndex = -100;

}  // namespace weft::metrics

// What metrics of classes share: predictions and labels as class numbers.
#pragma once

#include "tensor/tensor.h"

namespace weft::metrics {

/// Predicted classes and labels, i64 (count), on the CPU.
struct Pairs {
  Tensor predicted;
  Tensor labels;
};

/// `predictions` are classes (integers) of the labels' shape, or scores with one axis more, the classes at axis 1: (n,
/// classes, ...) for labels (n, ...). Pairs whose label is `ignore_index` are left out. ShapeError and DtypeError where
/// they are neither.
Pairs pairs_of(const Tensor& predictions, const Tensor& labels, int64_t ignore_index);
/// Scores (count, classes) and labels (count) of such predictions.
Pairs scores_of(const Tensor& predictions, const Tensor& labels, int64_t ignore_index);

/// No label is this one.
inline constexpr int64_t kIgnoreNone = -100;

}  // namespace weft::metrics

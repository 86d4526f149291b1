// Counting values.
#pragma once

#include <optional>
#include <utility>

#include "tensor/tensor.h"

namespace weft {

/// How often each of 0, 1, ... occurs in the 1-D `x` of integers (i64); with `weights` (1-D), their sums, which take a
/// gradient. At least `minlength` numbers. IndexError for a negative value.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t minlength = 0);
/// Counts (x's dtype) of the values in `bins` bins of equal width from min to max, the last one closed; where both are
/// equal, from the smallest to the largest of x. Values outside and NaN are left out. Floating dtypes.
Tensor histc(const Tensor& x, int64_t bins = 100, double min = 0, double max = 0);

struct HistogramOptions {
  std::optional<std::pair<double, double>> range = std::nullopt;  // the smallest and the largest value where absent
  Tensor weight = {};                                             // of x's shape: what each value counts
  bool density = false;                                           // counts divided by their sum and the bins' widths
};
struct HistogramResult {
  Tensor hist;   // (bins), x's dtype
  Tensor edges;  // (bins + 1)
};
/// Counts in `bins` bins of equal width, or in those between sorted 1-D `edges`. Values outside and NaN are left out.
/// DtypeError unless floating.
HistogramResult histogram(const Tensor& x, int64_t bins = 100, const HistogramOptions& options = {});
HistogramResult histogram(const Tensor& x, const Tensor& edges, const HistogramOptions& options = {});

}  // namespace weft

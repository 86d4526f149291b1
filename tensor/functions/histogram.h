// Counting values.
#pragma once

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// result[v] is the number of times (i64) the value v occurs in the 1-D integer tensor `x`. With `weights` (1-D), it is
/// the sum of the weights of these elements, in their dtype (integers and bool in i64), which is differentiable in
/// weights. The result has at least `minlength` elements. IndexError for a negative value.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t minlength = 0);
/// The number of values of x (in x's dtype) in each of `bins` bins of equal width between min and max. The last bin
/// includes max. If min equals max, the bins range from the smallest to the largest value of x. Values outside of the
/// range and NaN are not counted. x must be floating.
Tensor histc(const Tensor& x, int64_t bins = 100, double min = 0, double max = 0);

struct HistogramOptions {
  std::optional<std::pair<double, double>> range = std::nullopt;  // default: from the smallest to the largest value
  Tensor weight = {};                                             // weight of each value, in x's shape; default: 1
  bool density = false;                                           // divide counts by their sum and the bin widths
};
struct HistogramResult {
  Tensor hist;   // (bins), x's dtype
  Tensor edges;  // (bins + 1)
};
/// Counts values in `bins` bins of equal width, or in the bins that the sorted 1-D `edges` delimit. Values outside of
/// all bins and NaN are not counted. Without values the range is 0 to 1. DtypeError unless floating.
HistogramResult histogram(const Tensor& x, int64_t bins = 100, const HistogramOptions& options = {});
HistogramResult histogram(const Tensor& x, const Tensor& edges, const HistogramOptions& options = {});

struct HistogramddOptions {
  /// For each coordinate; default: from its smallest to its largest value.
  std::vector<std::pair<double, double>> ranges = {};
  Tensor weight = {};    // weight of each point, x's shape without the last axis; default: 1
  bool density = false;  // divide counts by their sum and the volumes of the bins
};
struct HistogramddResult {
  Tensor hist;                // an axis for each coordinate, x's dtype
  std::vector<Tensor> edges;  // (bins + 1) for each coordinate
};
/// Counts points, the rows along x's last axis (of at most 8 coordinates), in the cells that bins of each coordinate
/// form: bins[d] bins of equal width (one number is for all coordinates), or those that the sorted 1-D edges[d]
/// delimit. Points outside of all cells, or with a NaN, are not counted. DtypeError unless floating, ShapeError without
/// axes.
HistogramddResult histogramdd(const Tensor& x, const IntList& bins, const HistogramddOptions& options = {});
inline HistogramddResult histogramdd(const Tensor& x, std::initializer_list<int64_t> bins,
                                     const HistogramddOptions& options = {}) {
  return histogramdd(x, IntList(bins), options);  // {4} is a list
}
HistogramddResult histogramdd(const Tensor& x, const std::vector<Tensor>& edges,
                              const HistogramddOptions& options = {});

}  // namespace weft

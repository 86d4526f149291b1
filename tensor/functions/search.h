// Searches in sorted sequences.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The position (i64) at which each value can be inserted into `sorted` so that it stays sorted: before equal elements,
/// or after them with `right`. `sorted` is 1-D for values of any shape, or (..., n) for values (..., m). NaN counts as
/// larger than every number. Dtypes promote. No gradient. `sorter` (the result of argsort) allows sequences that are
/// not sorted.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false, const Tensor& sorter = {});
/// The index i of the bucket of each value, given sorted 1-D `boundaries`: boundaries[i - 1] < value <= boundaries[i],
/// or with `right`, boundaries[i - 1] <= value < boundaries[i]. The same as searchsorted(boundaries, values, right).
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right = false);
/// Whether each element of `x` equals one of `values` (any shape); with `invert`, whether it equals none of them. The
/// result is bool with x's shape. Dtypes promote. NaN equals no value. No gradient.
Tensor isin(const Tensor& x, const Tensor& values, bool invert = false);

}  // namespace weft

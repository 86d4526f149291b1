// Searches in sorted sequences.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Where each value would go in `sorted` so that it stays sorted (i64): before its equals, or behind them with `right`.
/// `sorted` is 1-D, for values of any shape, or (..., n) for values (..., m). NaN counts as larger than everything.
/// dtypes promote. No gradient. With a `sorter`, the indices that sort them (argsort), the sequences may be in any
/// order.
Tensor searchsorted(const Tensor& sorted, const Tensor& values, bool right = false, const Tensor& sorter = {});
/// The bucket of each value among those that the sorted 1-D `boundaries` make: searchsorted with the other order.
/// boundaries[i - 1] < value <= boundaries[i], or with `right`, boundaries[i - 1] <= value < boundaries[i].
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right = false);
/// Whether each element of `x` is one of `values` (any shape), or with `invert`, none of them: bool. dtypes promote;
/// NaN is none of any. No gradient.
Tensor isin(const Tensor& x, const Tensor& values, bool invert = false);

}  // namespace weft

// Reductions of segments.
#pragma once

#include <string_view>

#include "tensor/tensor.h"

namespace weft {

/// Reduces consecutive slices of x along `axis`: result i is made of the lengths[i] slices that follow those of result
/// i - 1. `reduce` is "sum", "mean", "max", "min" or "prod". `lengths` are 1-D integers; the axis of the result has
/// their number. Without slices the result is 0 (sum), 1 (prod), NaN (mean), or the lowest (max) or highest (min)
/// value, which is an infinity of a floating dtype. Elements that tie share the gradient evenly, and so do those that
/// are NaN. DtypeError for bool, and for a mean of integers. ShapeError unless the lengths are 0 or more and add up to
/// the size of the axis.
Tensor segment_reduce(const Tensor& x, std::string_view reduce, const Tensor& lengths, int64_t axis = 0);

}  // namespace weft

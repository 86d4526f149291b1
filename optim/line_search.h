// A line search for the strong Wolfe conditions.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace weft::optim {

/// A point on the search line, `length` along the direction.
struct LinePoint {
  double length = 0;
  double loss = 0;
  double slope = 0;
  Tensor gradient;
};

/// Finds a point that satisfies the strong Wolfe conditions: its loss is at most start.loss + 1e-4 length start.slope,
/// and the absolute value of its slope is at most 0.9 times that of `start`, which has length 0 and a negative slope.
/// `first` is the first length tried. After `most` further evaluations, or when the bracket is narrower than `narrow`,
/// returns the point with the lowest loss so far. Uses cubic interpolation, as PyTorch does.
LinePoint strong_wolfe(const std::function<LinePoint(double)>& at, const LinePoint& start, double first, double narrow,
                       int64_t most);

}  // namespace weft::optim

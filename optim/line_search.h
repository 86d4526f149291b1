// A line search for the strong Wolfe conditions.
#pragma once

#include <functional>

#include "tensor/tensor.h"

namespace weft::optim {

/// What is known of a line at `length` along it.
struct LinePoint {
  double length = 0;
  double loss = 0;
  double slope = 0;
  Tensor gradient;
};

/// A point after `start` (length 0, slope below 0) whose loss is at most start.loss + 1e-4 length start.slope and whose
/// slope is at most 0.9 of the start's, in size; the lowest seen where `most` evaluations beyond the first, or a
/// bracket narrower than `narrow`, do not show one. `first` is the first length tried. Cubic interpolation, as
/// PyTorch's.
LinePoint strong_wolfe(const std::function<LinePoint(double)>& at, const LinePoint& start, double first, double narrow,
                       int64_t most);

}  // namespace weft::optim

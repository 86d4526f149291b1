// Tensors that count, for tests whose values are checked by eye.
#pragma once

#include <vector>

#include "tensor/functions/fill.h"
#include "tensor/tensor.h"

namespace weft::testing {

using Values = std::vector<float>;

/// 1, 2, 3, ... in row-major order, f32.
inline Tensor counting(const Shape& shape) { return arange(1, checked_numel(shape) + 1).to(f32).reshape(shape); }

}  // namespace weft::testing

// Dropout.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Zeros elements with probability p and scales the rest by 1 / (1 - p). Draws from the process's generator or
/// `generator`; the op itself is pure (it carries its random key). Error unless 0 <= p <= 1, DtypeError unless
/// floating.
Tensor dropout(const Tensor& x, double p = 0.5);
Tensor dropout(const Tensor& x, double p, Generator& generator);

}  // namespace weft

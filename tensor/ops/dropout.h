// Dropout: zeros elements with probability p and scales the rest by 1 / (1 - p).
#pragma once

#include "tensor/apply.h"

namespace weft {

/// Draws from the global generator; the op itself is pure (it carries its random key). Error unless 0 <= p <= 1.
Tensor dropout(const Tensor& x, double p = 0.5);

}  // namespace weft

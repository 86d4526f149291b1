// The gradient of sums of segments.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// Slice i of x along `axis`, lengths[i] times in succession; the lengths add up to `size`.
Tensor repeat_segments(const Tensor& x, const Tensor& lengths, int64_t axis, int64_t size);

}  // namespace weft::adjoint

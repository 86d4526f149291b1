// What the rules of scans call.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// y[i] = a[i] y[i - 1] + b[i] along `axis`, y[0] = b[0]; from the end on with `reverse` (y[i] = a[i] y[i + 1] + b[i]).
Tensor linear_recurrence(const Tensor& a, const Tensor& b, int64_t axis, bool reverse = false);

}  // namespace weft::adjoint

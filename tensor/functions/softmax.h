// Softmax and log-softmax.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// e^x / sum(e^x) along `axis`, shifted by the maximum. A row of -inf gives NaN (as in PyTorch). A tensor without axes
/// takes axis 0 and -1. DtypeError unless floating.
Tensor softmax(const Tensor& x, int64_t axis);
/// log(softmax(x)), never above 0.
Tensor log_softmax(const Tensor& x, int64_t axis);

}  // namespace weft

// Softmax and log-softmax.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// e^x / sum(e^x) along `axis`. The maximum is subtracted first, so that e^x does not overflow. A row of -infinity
/// gives NaN (as in PyTorch). A 0-d tensor accepts axis 0 and -1. DtypeError unless floating.
Tensor softmax(const Tensor& x, int64_t axis);
/// log(softmax(x)), never above 0.
Tensor log_softmax(const Tensor& x, int64_t axis);

/// The same after x is cast to `dtype`, for example of 16-bit scores in f32.
Tensor softmax(const Tensor& x, int64_t axis, DType dtype);
Tensor log_softmax(const Tensor& x, int64_t axis, DType dtype);

}  // namespace weft

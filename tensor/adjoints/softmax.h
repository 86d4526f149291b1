// Gradients of softmax and log-softmax from their results; called by rules.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// y (g - sum(g y)), y being the softmax.
Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t axis);
/// g - e^y sum(g), y being the log-softmax.
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t axis);

}  // namespace weft::adjoint

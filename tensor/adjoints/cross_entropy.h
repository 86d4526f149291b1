// The gradient of cross entropy; called by rules.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradient of op::CrossEntropy in its logits, `scale` being the gradient of each loss.
Tensor cross_entropy_backward(const Tensor& scale, const Tensor& logits, const Tensor& targets, const Tensor& weight,
                              int64_t ignore_index, double label_smoothing);

}  // namespace weft::adjoint

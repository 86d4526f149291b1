// The gradient of ctc_loss; called by rules.
#pragma once

#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradient of op::CtcLoss in log_probs, g being that of the losses.
Tensor ctc_loss_backward(const Tensor& g, const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                         const Tensor& target_lengths, int64_t blank, bool zero_infinity);

}  // namespace weft::adjoint

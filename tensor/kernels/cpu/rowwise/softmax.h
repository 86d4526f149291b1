// Softmax and log-softmax along an axis, and their gradients. All operands have one shape and one floating dtype.
#pragma once

#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

/// exp(x - max) / sum(exp(x - max)); NaN where all are -inf or one is +inf.
void softmax(const Operand& x, int64_t axis, const Operand& out);
/// (x - max) - log(sum(exp(x - max))): exact for far-apart logits, never above 0.
void log_softmax(const Operand& x, int64_t axis, const Operand& out);
/// y * (g - sum(g * y)), y the softmax.
void softmax_backward(const Operand& g, const Operand& y, int64_t axis, const Operand& out);
/// g - exp(y) * sum(g), y the log-softmax.
void log_softmax_backward(const Operand& g, const Operand& y, int64_t axis, const Operand& out);

}  // namespace weft::kernels::cpu

// Optimizer steps, each one pass over memory. All operands have one shape and one dtype, f32 or f64; parameters and states
// are changed in place; the sign of the gradient (`maximize`) is the caller's. The order of operations is PyTorch's (torch.optim, single-tensor forms), so trajectories agree.
#pragma once

#include "tensor/core/hyper_parameters.h"
#include "tensor/core/operand.h"

namespace weft::kernels::cpu {

struct SgdStep : optim::SGDOptions {
  /// The first step with momentum: the buffer is the gradient itself.
  bool first = false;
};
/// g += weight_decay * param; buffer = momentum * buffer + (1 - dampening) * g; param -= lr * (nesterov ? g + momentum * buffer
/// : buffer). `buffer` is null where momentum is 0; then param -= lr * g.
void sgd_step(const Operand& param, const Operand& grad, const Operand* buffer, const SgdStep& step);

struct AdamStep : optim::AdamOptions {
  /// AdamW: decay shrinks the parameter instead of joining the gradient.
  bool decoupled = false;
  /// Counts from 1; gives the bias corrections 1 - beta^step.
  int64_t step = 1;
};
/// average += (1 - beta1) (g - average); square = beta2 * square + (1 - beta2) g^2;
/// param -= lr / (1 - beta1^t) * average / (sqrt(square) / sqrt(1 - beta2^t) + eps).
void adam_step(const Operand& param, const Operand& grad, const Operand& average, const Operand& square,
               const AdamStep& step);

using RmspropStep = optim::RMSpropOptions;
/// square = alpha * square + (1 - alpha) g^2; scaled = g / (sqrt(square) + eps), or with `average` (centered) the root of
/// square - average^2; buffer = momentum * buffer + scaled; param -= lr * buffer. `buffer` is null where momentum is 0 (then
/// param -= lr * scaled), `average` where not centered.
void rmsprop_step(const Operand& param, const Operand& grad, const Operand& square, const Operand* buffer,
                  const Operand* average, const RmspropStep& step);

}  // namespace weft::kernels::cpu

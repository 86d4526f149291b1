// The update rules of optimizers; called by optim/. Writes in place, outside of the tape: f32 and f64 go through one
// pass over memory, other dtypes and operands with padding through elementary ops. Formulas and their order are
// PyTorch's.
#pragma once

#include "tensor/ops/optimizer_step.h"
#include "tensor/tensor.h"

namespace weft::internal {

// Every tensor has the parameter's shape and dtype. States are undefined where the step's options do not need them, and
// otherwise start as zeros. See tensor/ops/optimizer_step.h for the formulas.

/// Stochastic gradient descent. `buffer` is needed where momentum is not 0.
void sgd_step(const Tensor& parameter, const Tensor& gradient, const Tensor& buffer, const op::SgdStep& step);
/// Adam (arXiv 1412.6980) and AdamW (arXiv 1711.05101). With `largest` (AMSGrad) the denominator is the largest
/// `square` so far.
void adam_step(const Tensor& parameter, const Tensor& gradient, const Tensor& average, const Tensor& square,
               const Tensor& largest, const op::AdamStep& step);
/// RMSprop. `buffer` is needed where momentum is not 0; with `average` it is centered.
void rmsprop_step(const Tensor& parameter, const Tensor& gradient, const Tensor& square, const Tensor& buffer,
                  const Tensor& average, const op::RmspropStep& step);

}  // namespace weft::internal

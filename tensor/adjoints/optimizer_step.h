// One step of an optimizer on one parameter; called by optim/. Writes in place, outside of the tape.
#pragma once

#include <concepts>

#include "tensor/ops/adaptive_step.h"
#include "tensor/ops/optimizer_step.h"
#include "tensor/tensor.h"

namespace weft::internal {

/// Writes parameter and states. All tensors have the parameter's shape and dtype; states are undefined where the step's
/// options do not need them, and otherwise start as zeros. The formulas are beside the descriptors. f32 and f64 go
/// through one pass over memory; bf16 and f16 (computed in f32, rounded once) and views with padding through a copy.
/// `maximize` negates the gradient. `name` is the optimizer's, for messages. The .cc file lists the steps.
template <class Step, std::same_as<Tensor>... States>
void optimizer_step(const char* name, const Step& step, const Tensor& parameter, const Tensor& gradient,
                    const States&... states);

}  // namespace weft::internal

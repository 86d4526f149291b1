// Steps of the optimizers with a rate per element write in place, outside of the tape.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/adaptive_step.h"

namespace weft::autograd {

WEFT_GRADIENT(AdagradStep) = not_differentiable;
WEFT_GRADIENT(AdadeltaStep) = not_differentiable;
WEFT_GRADIENT(AdamaxStep) = not_differentiable;
WEFT_GRADIENT(NadamStep) = not_differentiable;
WEFT_GRADIENT(RadamStep) = not_differentiable;
WEFT_GRADIENT(LionStep) = not_differentiable;

}  // namespace weft::autograd

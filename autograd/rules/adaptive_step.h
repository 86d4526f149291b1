// Optimizer steps write in place and are not recorded.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/adaptive_step.h"

namespace weft::autograd {

WEFT_GRADIENT(AdagradStep) = not_differentiable("an update in place");
WEFT_GRADIENT(AdadeltaStep) = not_differentiable("an update in place");
WEFT_GRADIENT(AdamaxStep) = not_differentiable("an update in place");
WEFT_GRADIENT(NAdamStep) = not_differentiable("an update in place");
WEFT_GRADIENT(RAdamStep) = not_differentiable("an update in place");
WEFT_GRADIENT(LionStep) = not_differentiable("an update in place");

}  // namespace weft::autograd

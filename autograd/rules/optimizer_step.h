// Optimizer steps write in place and are not recorded.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/optimizer_step.h"

namespace weft::autograd {

WEFT_GRADIENT(SgdStep) = not_differentiable("an update in place");
WEFT_GRADIENT(AdamStep) = not_differentiable("an update in place");
WEFT_GRADIENT(RmspropStep) = not_differentiable("an update in place");

}  // namespace weft::autograd

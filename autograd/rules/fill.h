// Constructors have no inputs.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/fill.h"

namespace weft::autograd {

WEFT_GRADIENT(Full) = not_differentiable;
WEFT_GRADIENT(Arange) = not_differentiable;
WEFT_GRADIENT(Linspace) = not_differentiable;
WEFT_GRADIENT(Eye) = not_differentiable;

}  // namespace weft::autograd

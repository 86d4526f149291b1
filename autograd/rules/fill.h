// Ops that create tensors have no inputs and so no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/fill.h"

namespace weft::autograd {

WEFT_GRADIENT(Full) = not_differentiable("it reads nothing");
WEFT_GRADIENT(Arange) = not_differentiable("it reads nothing");
WEFT_GRADIENT(Linspace) = not_differentiable("it reads nothing");
WEFT_GRADIENT(Eye) = not_differentiable("it reads nothing");

}  // namespace weft::autograd

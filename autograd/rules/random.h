// What is drawn has no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/random.h"

namespace weft::autograd {

WEFT_GRADIENT(RandomFill) = not_differentiable;
WEFT_GRADIENT(Multinomial) = not_differentiable;
WEFT_GRADIENT(Poisson) = not_differentiable;

}  // namespace weft::autograd

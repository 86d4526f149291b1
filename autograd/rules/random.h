// Random numbers have no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/random.h"

namespace weft::autograd {

WEFT_GRADIENT(RandomFill) = not_differentiable("random numbers");
WEFT_GRADIENT(Multinomial) = not_differentiable("positions");
WEFT_GRADIENT(Poisson) = not_differentiable("random numbers");

}  // namespace weft::autograd

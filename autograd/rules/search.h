// Positions have no gradient.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/search.h"

namespace weft::autograd {

WEFT_GRADIENT(Searchsorted) = not_differentiable("positions");

}  // namespace weft::autograd

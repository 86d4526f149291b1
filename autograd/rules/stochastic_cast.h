// The rule of the cast with stochastic rounding. Its expected value is the identity, so the gradient is passed through.
#pragma once

#include "autograd/rule.h"
#include "tensor/functions/copy.h"
#include "tensor/ops/stochastic_cast.h"

namespace weft::autograd {

WEFT_GRADIENT(StochasticCast) = per_input([](Grad g, InputType<0> x) { return cast(g, x.dtype); });

}  // namespace weft::autograd

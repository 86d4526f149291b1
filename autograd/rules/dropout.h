// The rule of dropout.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/dropout.h"

namespace weft::autograd {

// Linear, and its own adjoint: the random key says which elements stay.
WEFT_GRADIENT(Dropout) = per_input([](const op::Dropout& op, Grad g) { return dispatch::apply(op, Tensor(g)); });

}  // namespace weft::autograd

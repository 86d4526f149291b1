// The rule of dropout.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/dropout.h"

namespace weft::autograd {

// Dropout is linear and its own adjoint, as the random key determines which elements are kept.
WEFT_GRADIENT(Dropout) = per_input([](const op::Dropout& op, Grad g) {
  const Tensor own = std::move(g);
  return dispatch::apply_over(op, 1u, own);
});

}  // namespace weft::autograd

// The rules of padding with elements of the tensor.
#pragma once

#include "autograd/rule.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/pad_mode.h"

namespace weft::autograd {

WEFT_GRADIENT(PadMode) = per_input([](const op::PadMode& op, Grad g) {
  return dispatch::apply(op::PadModeBackward{op.widths, op.mode}, Tensor(g));
});
WEFT_GRADIENT(PadModeBackward) = per_input([](const op::PadModeBackward& op, Grad g) {
  return dispatch::apply(op::PadMode{op.widths, op.mode}, Tensor(g));
});

}  // namespace weft::autograd

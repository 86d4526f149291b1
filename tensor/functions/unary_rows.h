// What a row of tensor/ops/unary.inc, special.inc and activation.inc declares among the functions: one for tensors, and
// one for temporaries, whose memory it may use again.
#pragma once

#include "tensor/tensor.h"

#define WEFT_UNARY_DECLARATION(Op, function, policy) \
  Tensor function(const Tensor& x);                  \
  Tensor function(Tensor&& x);

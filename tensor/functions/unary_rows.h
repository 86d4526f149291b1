// The declarations that each row of tensor/ops/unary.inc, special.inc and activation.inc expands to in the function
// headers: one for tensors, and one for temporaries, whose memory the result may reuse.
#pragma once

#include "tensor/tensor.h"

#define WEFT_UNARY_DECLARATION(Op, function, policy) \
  Tensor function(const Tensor& x);                  \
  Tensor function(Tensor&& x);

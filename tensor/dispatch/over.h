// Helpers of the overloads for rvalues, whose results may reuse the memory of a temporary operand.
#pragma once

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// Returns `call(1)`, where 1 means that `x` is a temporary. If the result took x's memory, `x` becomes undefined.
template <class Call> Tensor over(Tensor& x, const Call& call) {
  Tensor out = call(1);
  if (out.shares_storage(x)) x = Tensor();
  return out;
}
/// The same for two operands. Bit 0 of `temporaries` means that x is a temporary, bit 1 that y is.
template <class Call> Tensor over(uint32_t temporaries, Tensor& x, Tensor& y, const Call& call) {
  Tensor out = call(temporaries);
  if ((temporaries & 1u) && out.shares_storage(x))
    x = Tensor();
  else if ((temporaries & 2u) && out.shares_storage(y))
    y = Tensor();
  return out;
}

}  // namespace weft::dispatch

/// Defines the function of a row of tensor/ops/unary.inc and its overload for temporaries.
#define WEFT_UNARY_FUNCTION(Op, function, policy)                                                                   \
  Tensor function(const Tensor& x) {                                                                                \
    ErrorFrame frame(#function, x);                                                                                 \
    return dispatch::apply(op::Op{}, x);                                                                            \
  }                                                                                                                 \
  Tensor function(Tensor&& x) {                                                                                     \
    ErrorFrame frame(#function, x);                                                                                 \
    return dispatch::over(x, [&](uint32_t temporaries) { return dispatch::apply_over(op::Op{}, temporaries, x); }); \
  }

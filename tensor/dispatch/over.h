// Results written over dying temporaries: what overloads for rvalues call.
#pragma once

#include "tensor/dispatch/apply.h"

namespace weft::dispatch {

/// `call(1)`, told that `x` is the caller's last use; `x` becomes undefined where the result took its memory.
template <class Call> Tensor over(Tensor& x, const Call& call) {
  Tensor out = call(1);
  if (out.shares_storage(x)) x = Tensor();
  return out;
}
/// The same for two operands, of which those in `dying` (bit 0 for x, bit 1 for y) are temporaries.
template <class Call> Tensor over(uint32_t dying, Tensor& x, Tensor& y, const Call& call) {
  Tensor out = call(dying);
  if ((dying & 1u) && out.shares_storage(x))
    x = Tensor();
  else if ((dying & 2u) && out.shares_storage(y))
    y = Tensor();
  return out;
}

}  // namespace weft::dispatch

/// The function of a row of tensor/ops/unary.inc, with its overload for temporaries.
#define WEFT_UNARY_FUNCTION(Op, function, policy)                                                       \
  Tensor function(const Tensor& x) {                                                                    \
    ErrorFrame frame(#function, x);                                                                     \
    return dispatch::apply(op::Op{}, x);                                                                \
  }                                                                                                     \
  Tensor function(Tensor&& x) {                                                                         \
    ErrorFrame frame(#function, x);                                                                     \
    return dispatch::over(x, [&](uint32_t dying) { return dispatch::apply_over(op::Op{}, dying, x); }); \
  }

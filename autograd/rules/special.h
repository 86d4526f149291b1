// Rules of special functions.
#pragma once

#include <numbers>

#include "autograd/rule.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/special.h"

namespace weft::autograd {

WEFT_GRADIENT(Erfinv) = per_input([](Grad g, Output y) {
  return g * (exp(square(y)) * (0.5 / std::numbers::inv_sqrtpi));
});
WEFT_GRADIENT(Lgamma) = per_input([](Grad g, Input<0> x) { return g * digamma(x); });
WEFT_GRADIENT(Digamma) = per_input([](Grad g, Input<0> x) { return g * polygamma(1, x); });
WEFT_GRADIENT(I0) = per_input([](Grad g, Input<0> x) { return g * i1(x); });
// I0(x) - I1(x) / x, where I1(x) / x is 1/2 at 0.
WEFT_GRADIENT(I1) = per_input([](Grad g, Input<0> x, Output y) {
  const Tensor zero = x == 0.0;
  return g * (i0(x) - where(zero, 0.5, y / where(zero, 1.0, x)));
});
WEFT_GRADIENT(Polygamma) = per_input([](const op::Polygamma& op, Grad g, Input<0> x) {
  return g * polygamma(op.order + 1, x);
});

}  // namespace weft::autograd

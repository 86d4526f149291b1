// Rules of special functions.
#pragma once

#include <numbers>

#include "autograd/rule.h"
#include "tensor/adjoints/special.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/special.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/special.h"

namespace weft::autograd {

WEFT_GRADIENT(Erfinv) = per_input([](Grad g, Output y) {
  return g * (exp(square(y)) * (0.5 / std::numbers::inv_sqrtpi));
});
WEFT_GRADIENT(Frac) = per_input([](Grad g) { return g; });
WEFT_GRADIENT(Lgamma) = per_input([](Grad g, Input<0> x) { return g * digamma(x); });
WEFT_GRADIENT(Digamma) = per_input([](Grad g, Input<0> x) { return g * polygamma(1, x); });
WEFT_GRADIENT(I0) = per_input([](Grad g, Input<0> x) { return g * i1(x); });
/// y / x, 1/2 at 0: part of the derivatives of i1 and i1e.
inline Tensor half_at_zero(const Tensor& y, const Tensor& x) {
  const Tensor zero = x == 0.0;
  return where(zero, 0.5, y / where(zero, 1.0, x));
}
WEFT_GRADIENT(I1) = per_input([](Grad g, Input<0> x, Output y) { return g * (i0(x) - half_at_zero(y, x)); });
// The terms of these two cancel: a y of 16 bits would leave nothing.
WEFT_GRADIENT(I0e) = in_f32(per_input([](Grad g, Input<0> x) { return g * (i1e(x) - sign(x) * i0e(x)); }));
WEFT_GRADIENT(I1e) = in_f32(per_input([](Grad g, Input<0> x) {
  const Tensor y = i1e(x);
  return g * (i0e(x) - half_at_zero(y, x) - sign(x) * y);
}));
WEFT_GRADIENT(Polygamma) = per_input([](const op::Polygamma& op, Grad g, Input<0> x) {
  return g * polygamma(op.order + 1, x);
});
WEFT_GRADIENT(BesselJ0) = per_input([](Grad g, Input<0> x) { return -g * bessel_j1(x); });
WEFT_GRADIENT(BesselJ1) = per_input([](Grad g, Input<0> x, Output y) {
  return g * (bessel_j0(x) - half_at_zero(y, x));
});
WEFT_GRADIENT(BesselY0) = per_input([](Grad g, Input<0> x) { return -g * bessel_y1(x); });
WEFT_GRADIENT(BesselY1) = in_f32(per_input([](Grad g, Input<0> x) { return g * (bessel_y0(x) - bessel_y1(x) / x); }));
WEFT_GRADIENT(ModifiedBesselK0) = per_input([](Grad g, Input<0> x) { return -g * modified_bessel_k1(x); });
WEFT_GRADIENT(ModifiedBesselK1) = in_f32(per_input([](Grad g, Input<0> x, Output y) {
  return -g * (modified_bessel_k0(x) + y / x);
}));
WEFT_GRADIENT(Ndtr) = in_f32(per_input([](Grad g, Input<0> x) {
  return g * (exp(square(x) * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2));
}));
WEFT_GRADIENT(LogNdtr) = per_input([](Grad g, Input<0> x) { return g * adjoint::log_ndtr_slope(x); });
// Of y = f / F with f' = -x f and F' = f.
WEFT_GRADIENT(LogNdtrSlope) = in_f32(per_input([](Grad g, Input<0> x) {
  const Tensor y = adjoint::log_ndtr_slope(x);  // not the output, as a y of 16 bits cancels in x + y
  return -g * (y * (x + y));
}));
WEFT_GRADIENT(Ndtri) = in_f32(per_input([](Grad g, Output y) {
  return g * (exp(square(y) * 0.5) * (std::numbers::sqrt2 / std::numbers::inv_sqrtpi));
}));
WEFT_GRADIENT(Erfcx) = in_f32(per_input([](Grad g, Input<0> x) {
  return g * (x * erfcx(x) * 2.0 - 2 * std::numbers::inv_sqrtpi);
}));
WEFT_GRADIENT(Entr) = per_input([](Grad g, Input<0> x) { return g * (-1.0 - log(x)); });
WEFT_GRADIENT(GammaDensity) =
    in_f32(per_input([](Grad g, Input<0> a, Input<1> x, Output y) { return g * (y * (log(x) - digamma(a))); },
                     [](Grad g, Input<0> a, Input<1> x, Output y) { return g * (y * ((a - 1.0) / x - 1.0)); }));

// One rule for both inputs, as their gradients differ only in sign.
WEFT_GRADIENT(SquaredDifference) = joint([](Grad g, Input<0> a, Input<1> b, Needs needs) {
  const Tensor d = g * ((a - b) * 2.0);
  return std::vector<Tensor>{d, needs[1] ? -d : Tensor()};
});
WEFT_GRADIENT(Huber) = joint([](const op::Huber& op, Grad g, Input<0> a, Input<1> b, Needs needs) {
  const Tensor d = g * clip(a - b, -op.delta, op.delta);
  return std::vector<Tensor>{d, needs[1] ? -d : Tensor()};
});
WEFT_GRADIENT(LogisticLoss) = per_input([](Grad g, Input<0> x, Input<1> y) { return g * (sigmoid(x) - y); },
                                        [](Grad g, Input<0> x) { return g * -x; });

}  // namespace weft::autograd

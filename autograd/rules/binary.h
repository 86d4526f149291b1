// Rules of element-wise arithmetic. Operands have equal shape and dtype, because broadcasting and promotion are
// separate recorded ops.
#pragma once

#include <cmath>
#include <limits>

#include "autograd/rule.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/adjoints/special.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/masked.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/binary.h"

namespace weft::autograd {

WEFT_GRADIENT(Add) = per_input([](Grad g) { return g; }, [](Grad g) { return g; });
WEFT_GRADIENT(Sub) = per_input([](Grad g) { return g; }, [](Grad g) { return -std::move(g); });
WEFT_GRADIENT(AddScaled) = per_input([](Grad g) { return g; },
                                     [](const op::AddScaled& op, Grad g) { return std::move(g) * op.alpha; });
WEFT_GRADIENT(Mul) = per_input([](Grad g, Input<1> b) { return std::move(g) * b; },
                               [](Grad g, Input<0> a) { return std::move(g) * a; });
WEFT_GRADIENT(Div) = per_input([](Grad g, Input<1> b) { return std::move(g) / b; },
                               [](Grad g, Input<0> a, Input<1> b) { return -std::move(g) * (a / b) / b; });

namespace formulas {
/// The gradient of one operand: g where the other operand is not `chosen`, and g / 2 where both are equal. If one is
/// NaN, neither is chosen, and both operands get g, as in PyTorch.
inline Tensor extremum_share(const Tensor& g, const Tensor& other_chosen, const Tensor& tie) {
  return where(tie, g * 0.5, where(other_chosen, zeros_beside(g), g));
}
/// sqrt(a^2 + b^2), but 1 at the origin, so that the gradient of an angle is 0 there, as in PyTorch.
inline Tensor radius(const Tensor& a, const Tensor& b) {
  const Tensor origin = logical_and(a == 0.0, b == 0.0);
  return hypot(where(origin, ones_like(a), a), b);
}
/// x / r^2, which does not leave the range of r where the squares do.
inline Tensor over_square(const Tensor& x, const Tensor& r) { return x / r / r; }
/// a - b, but -inf where both are: a share of nothing is 0 there, as in logsumexp, and not NaN.
inline Tensor lead(const Tensor& a, const Tensor& b) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  return masked_fill(a - b, logical_and(a == kNone, b == kNone), kNone);
}
}  // namespace formulas

// PyTorch's conventions: a^0 has gradient 0 in a; 0^b with b >= 0 has gradient 0 in b.
WEFT_GRADIENT(Pow) = in_f32(per_input(  // the factors may leave 16 bits where the gradient does not
    [](Grad g, Input<0> a, Input<1> b) {
      return where(b == 0.0, formulas::zeros_beside(g), g * (b * pow(a, b - 1.0)));
    },
    [](Grad g, Input<0> a, Input<1> b, Output y) {
      const Tensor flat = logical_and(a == 0.0, b >= 0.0);
      return where(flat, formulas::zeros_beside(g), g * (y * log(where(flat, ones_like(a), a))));
    }));
WEFT_GRADIENT(Maximum) =
    per_input([](Grad g, Input<0> a, Input<1> b) { return formulas::extremum_share(g, b > a, a == b); },
              [](Grad g, Input<0> a, Input<1> b) { return formulas::extremum_share(g, a > b, a == b); });
WEFT_GRADIENT(Minimum) =
    per_input([](Grad g, Input<0> a, Input<1> b) { return formulas::extremum_share(g, b < a, a == b); },
              [](Grad g, Input<0> a, Input<1> b) { return formulas::extremum_share(g, a < b, a == b); });
// Where a value equals its bound, the value gets the gradient and the bound gets none.
WEFT_GRADIENT(ClampMin) =
    per_input([](Grad g, Input<0> x, Input<1> min) { return where(x >= min, g, formulas::zeros_beside(g)); },
              [](Grad g, Input<0> x, Input<1> min) { return where(x < min, g, formulas::zeros_beside(g)); });
WEFT_GRADIENT(ClampMax) =
    per_input([](Grad g, Input<0> x, Input<1> max) { return where(x <= max, g, formulas::zeros_beside(g)); },
              [](Grad g, Input<0> x, Input<1> max) { return where(x > max, g, formulas::zeros_beside(g)); });

// The derivative of a - b n with the integer n held constant.
WEFT_GRADIENT(Remainder) = per_input([](Grad g) { return g; },
                                     [](Grad g, Input<0> a, Input<1> b) { return -g * floor_divide(a, b); });
// n is what the value was computed with: the rounded quotient a / b may lie beyond it.
WEFT_GRADIENT(Fmod) = in_f32(per_input([](Grad g) { return g; },
                                       [](Grad g, Input<0> a, Input<1> b) {
                                         return -g * round((a - fmod(a, b)) / b);
                                       }));
WEFT_GRADIENT(FloorDivide) = per_input([](Grad g) { return zeros_like(g); }, [](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(TruncDivide) = per_input([](Grad g) { return zeros_like(g); }, [](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Atan2) = in_f32(
    per_input([](Grad g, Input<0> a, Input<1> b) { return g * formulas::over_square(b, formulas::radius(a, b)); },
              [](Grad g, Input<0> a, Input<1> b) { return -g * formulas::over_square(a, formulas::radius(a, b)); }));
WEFT_GRADIENT(Hypot) = per_input([](Grad g, Input<0> a, Output y) { return g * (a / y); },
                                 [](Grad g, Input<1> b, Output y) { return g * (b / y); });
WEFT_GRADIENT(Logaddexp) = per_input([](Grad g, Input<0> a, Input<1> b) { return g * sigmoid(formulas::lead(a, b)); },
                                     [](Grad g, Input<0> a, Input<1> b) { return g * sigmoid(formulas::lead(b, a)); });
// The gradient of a is 0 where a = 0, unless b is a positive number.
WEFT_GRADIENT(Xlogy) = per_input(
    [](Grad g, Input<0> a, Input<1> b) { return g * log(masked_fill(b, logical_and(a == 0.0, b <= 0.0), 1.0)); },
    [](Grad g, Input<0> a, Input<1> b) { return g * (a / b); });
WEFT_GRADIENT(Xlog1py) = per_input(
    [](Grad g, Input<0> a, Input<1> b) { return g * log1p(masked_fill(b, logical_and(a == 0.0, b <= -1.0), 0.0)); },
    [](Grad g, Input<0> a, Input<1> b) { return g * (a / (b + 1.0)); });
WEFT_GRADIENT(Zeta) = in_f32(per_input([](Grad) -> Tensor { throw GradientError("zeta has no gradient by a"); },
                                       [](Grad g, Input<0> a, Input<1> b) { return g * -a * zeta(a + 1.0, b); }));
WEFT_GRADIENT(Igamma) = in_f32(per_input([](Grad) -> Tensor { throw GradientError("igamma has no gradient by a"); },
                                         [](Grad g, Input<0> a, Input<1> b) {
                                           return g * adjoint::gamma_density(a, b);
                                         }));
WEFT_GRADIENT(Igammac) = in_f32(per_input([](Grad) -> Tensor { throw GradientError("igammac has no gradient by a"); },
                                          [](Grad g, Input<0> a, Input<1> b) {
                                            return -g * adjoint::gamma_density(a, b);
                                          }));
WEFT_GRADIENT(Copysign) = per_input([](Grad g, Input<0> a, Input<1> b) { return g * sign(a) * copysign(1.0, b); },
                                    [](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Nextafter) = not_differentiable("a neighbor in a finite set");
WEFT_GRADIENT(Fmax) = per_input(
    [](Grad g, Input<0> a, Input<1> b) { return where(logical_or(a >= b, isnan(b)), g, formulas::zeros_beside(g)); },
    [](Grad g, Input<0> a, Input<1> b) { return where(logical_or(a >= b, isnan(b)), formulas::zeros_beside(g), g); });
WEFT_GRADIENT(Fmin) = per_input(
    [](Grad g, Input<0> a, Input<1> b) { return where(logical_or(a <= b, isnan(b)), g, formulas::zeros_beside(g)); },
    [](Grad g, Input<0> a, Input<1> b) { return where(logical_or(a <= b, isnan(b)), formulas::zeros_beside(g), g); });
WEFT_GRADIENT(BitwiseAnd) = not_differentiable("integers");
WEFT_GRADIENT(BitwiseOr) = not_differentiable("integers");
WEFT_GRADIENT(BitwiseXor) = not_differentiable("integers");
WEFT_GRADIENT(BitwiseLeftShift) = not_differentiable("integers");
WEFT_GRADIENT(BitwiseRightShift) = not_differentiable("integers");

WEFT_GRADIENT(AddScalar) = per_input([](Grad g) { return g; });
WEFT_GRADIENT(RsubScalar) = per_input([](Grad g) { return -std::move(g); });
WEFT_GRADIENT(MulScalar) = per_input([](const op::MulScalar& op, Grad g) { return std::move(g) * op.value; });
WEFT_GRADIENT(DivScalar) = per_input([](const op::DivScalar& op, Grad g) { return std::move(g) / op.value; });
WEFT_GRADIENT(RdivScalar) = per_input([](Grad g, Input<0> x, Output y) { return -g * y / x; });
WEFT_GRADIENT(PowScalar) = per_input([](const op::PowScalar& op, Grad g, Input<0> x) {
  const double p = op.value.to_double();
  return p == 0.0 ? zeros_like(g) : g * (pow(x, p - 1.0) * p);
});
WEFT_GRADIENT(RpowScalar) = per_input([](const op::RpowScalar& op, Grad g, Input<0> x, Output y) {
  const double base = op.value.to_double();
  // The gradient of 0^x is 0 where x >= 0.
  return base == 0.0 ? where(x >= 0.0, formulas::zeros_beside(g), g * y * std::log(base)) : g * y * std::log(base);
});

}  // namespace weft::autograd

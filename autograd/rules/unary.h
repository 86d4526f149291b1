// Rules of element-wise functions.
#pragma once

#include <cmath>
#include <numbers>

#include "autograd/rule.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/adjoints/unary.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/special.h"
#include "tensor/ops/unary.h"

namespace weft::autograd {

WEFT_GRADIENT(Neg) = per_input([](Grad g) { return -g; });
WEFT_GRADIENT(Abs) = per_input([](Grad g, Input<0> x) { return g * sign(x); });
WEFT_GRADIENT(Sign) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Square) = per_input([](Grad g, Input<0> x) { return g * (x * 2.0); });
WEFT_GRADIENT(Sqrt) = per_input([](Grad g, Output y) { return g / (y * 2.0); });
WEFT_GRADIENT(Rsqrt) = in_f32(per_input([](Grad g, Output y) { return g * (y * y * y) * -0.5; }));
WEFT_GRADIENT(Reciprocal) = in_f32(per_input([](Grad g, Output y) { return -g * (y * y); }));
WEFT_GRADIENT(Exp) = per_input([](Grad g, Output y) { return g * y; });
WEFT_GRADIENT(Log) = per_input([](Grad g, Input<0> x) { return g / x; });
WEFT_GRADIENT(Log1p) = per_input([](Grad g, Input<0> x) { return g / (x + 1.0); });
WEFT_GRADIENT(Sin) = per_input([](Grad g, Input<0> x) { return g * cos(x); });
WEFT_GRADIENT(Cos) = per_input([](Grad g, Input<0> x) { return -g * sin(x); });
WEFT_GRADIENT(Tanh) = per_input([](Grad g, Output y) { return g * (1.0 - y * y); });
WEFT_GRADIENT(Sigmoid) = per_input([](Grad g, Output y) { return g * (y * (1.0 - y)); });
WEFT_GRADIENT(Relu) = per_input([](Grad g, Output y) { return adjoint::relu_backward(g, y); });
WEFT_GRADIENT(ReluBackward) = per_input([](Grad g, Input<1> y) { return adjoint::relu_backward(g, y); }, no_gradient);
WEFT_GRADIENT(LeakyRelu) = per_input([](const op::LeakyRelu& op, Grad g, Input<0> x) {
  return where(x > 0.0, g, g * op.slope);
});
template <> inline constexpr int recomputed_inputs<op::LeakyRelu> = 1;
WEFT_GRADIENT(Silu) = per_input([](Grad g, Input<0> x) { return adjoint::silu_backward(g, x); });
WEFT_GRADIENT(SiluBackward) = per_input([](Grad gg, Input<1> x) { return adjoint::silu_backward(gg, x); },
                                        [](Grad gg, Input<0> g, Input<1> x) {
                                          const Tensor s = sigmoid(x), rest = 1.0 - s;
                                          return gg * g * (s * rest * (x * (rest - s) + 2.0));
                                        });
template <> inline constexpr int recomputed_inputs<op::Silu> = 1;
WEFT_GRADIENT(Softplus) = per_input([](Grad g, Input<0> x) { return g * sigmoid(x); });
// erf'(x) = 2 / sqrt(pi) exp(-x^2)
WEFT_GRADIENT(Erf) = per_input([](Grad g, Input<0> x) {
  return g * (exp(-square(x)) * (2.0 * std::numbers::inv_sqrtpi));
});
// The gradient is 1 at the bounds and 0 for NaN, as in PyTorch.
WEFT_GRADIENT(Clip) = per_input([](const op::Clip& op, Grad g, Input<0> x) -> Tensor {
  Tensor out = g;
  if (op.min) out = where(x >= *op.min, out, formulas::zeros_beside(g));
  if (op.max) out = where(x <= *op.max, out, formulas::zeros_beside(g));
  return out;
});

WEFT_GRADIENT(Floor) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Ceil) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Round) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Trunc) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(BitwiseNot) = not_differentiable("integers");
WEFT_GRADIENT(Expm1) = per_input([](Grad g, Output y) { return g * (y + 1.0); });
WEFT_GRADIENT(Exp2) = per_input([](Grad g, Output y) { return g * (y * std::numbers::ln2); });
WEFT_GRADIENT(Log2) = in_f32(per_input([](Grad g, Input<0> x) { return g / (x * std::numbers::ln2); }));
WEFT_GRADIENT(Log10) = in_f32(per_input([](Grad g, Input<0> x) { return g / (x * std::numbers::ln10); }));
WEFT_GRADIENT(Tan) = per_input([](Grad g, Output y) { return g * (square(y) + 1.0); });
WEFT_GRADIENT(Asin) = in_f32(per_input([](Grad g, Input<0> x) { return g * rsqrt((1.0 - x) * (1.0 + x)); }));
WEFT_GRADIENT(Acos) = in_f32(per_input([](Grad g, Input<0> x) { return -g * rsqrt((1.0 - x) * (1.0 + x)); }));
WEFT_GRADIENT(Atan) = in_f32(per_input([](Grad g, Input<0> x) { return g / (square(x) + 1.0); }));
WEFT_GRADIENT(Sinh) = per_input([](Grad g, Input<0> x) { return g * cosh(x); });
WEFT_GRADIENT(Cosh) = per_input([](Grad g, Input<0> x) { return g * sinh(x); });
WEFT_GRADIENT(Asinh) = in_f32(per_input([](Grad g, Input<0> x) { return g * rsqrt(square(x) + 1.0); }));
WEFT_GRADIENT(Acosh) = in_f32(per_input([](Grad g, Input<0> x) { return g * rsqrt(x - 1.0) * rsqrt(x + 1.0); }));
WEFT_GRADIENT(Atanh) = in_f32(per_input([](Grad g, Input<0> x) { return g / ((1.0 - x) * (1.0 + x)); }));
WEFT_GRADIENT(Erfc) = per_input([](Grad g, Input<0> x) {
  return g * (exp(-square(x)) * (-2.0 * std::numbers::inv_sqrtpi));
});
// The gradient is 0 where a value was replaced.
WEFT_GRADIENT(NanToNum) = per_input([](Grad g, Input<0> x) {
  return where(isfinite(x), g, formulas::zeros_beside(g));
});

WEFT_GRADIENT(GeluOp) = per_input([](const op::GeluOp& op, Grad g, Input<0> x) {
  return adjoint::gelu_backward(g, x, op.tanh_form ? Gelu::tanh : Gelu::exact);
});
template <> inline constexpr int recomputed_inputs<op::GeluOp> = 1;

namespace formulas {
/// The second derivative of gelu.
inline Tensor gelu_second(const Tensor& anywhere, bool tanh_form) {
  const Tensor x = clip(anywhere, -40.0, 40.0);  // it is 0 there, and powers fit f16
  if (!tanh_form) {                              // (2 - x^2) phi(x)
    const double inv_sqrt_2pi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    return (2.0 - square(x)) * exp(square(x) * -0.5) * inv_sqrt_2pi;
  }
  // y = x (1 + t) / 2, t = tanh(u), u = c (x + a x^3): y'' = t' u' + x (t'' u'^2 + t' u'') / 2
  const double c = std::sqrt(2.0 / std::numbers::pi), a = 0.044715;
  const Tensor t = tanh((x + x * square(x) * a) * c);
  const Tensor first = 1.0 - square(t);
  const Tensor du = (square(x) * (3.0 * a) + 1.0) * c;
  return first * du + x * (first * t * -2.0 * square(du) + first * (x * (6.0 * a * c))) * 0.5;
}
}  // namespace formulas

WEFT_GRADIENT(GeluBackward) = per_input(  //
    [](const op::GeluBackward& op, Grad gg, Input<1> x) {
      return adjoint::gelu_backward(gg, x, op.tanh_form ? Gelu::tanh : Gelu::exact);
    },
    [](const op::GeluBackward& op, Grad gg, Input<0> g, Input<1> x) {
      return gg * g * formulas::gelu_second(x, op.tanh_form);
    });

}  // namespace weft::autograd

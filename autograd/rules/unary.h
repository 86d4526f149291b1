// Rules of element-wise functions.
#pragma once

#include <numbers>

#include "autograd/rule.h"
#include "autograd/rules/zeros_beside.h"
#include "tensor/adjoints/activation_backward.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/special.h"
#include "tensor/ops/unary.h"

namespace weft::autograd {

WEFT_GRADIENT(Neg) = per_input([](Grad g) { return -std::move(g); });
WEFT_GRADIENT(Abs) = per_input([](Grad g, Input<0> x) { return g * sign(x); });
WEFT_GRADIENT(Sign) = per_input([](Grad g) { return zeros_like(g); });
WEFT_GRADIENT(Square) = per_input([](Grad g, Input<0> x) { return g * (x * 2.0); });
WEFT_GRADIENT(Sqrt) = per_input([](Grad g, Output y) { return g / (y * 2.0); });
WEFT_GRADIENT(Rsqrt) = in_f32(per_input([](Grad g, Output y) { return g * (y * y * y) * -0.5; }));
WEFT_GRADIENT(Reciprocal) = in_f32(per_input([](Grad g, Output y) { return std::move(g) * -(y * y); }));
WEFT_GRADIENT(Exp) = per_input([](Grad g, Output y) { return std::move(g) * y; });
WEFT_GRADIENT(Log) = per_input([](Grad g, Input<0> x) { return std::move(g) / x; });
WEFT_GRADIENT(Log1p) = per_input([](Grad g, Input<0> x) { return g / (x + 1.0); });
WEFT_GRADIENT(Sin) = per_input([](Grad g, Input<0> x) { return g * cos(x); });
WEFT_GRADIENT(Cos) = per_input([](Grad g, Input<0> x) { return std::move(g) * -sin(x); });
WEFT_GRADIENT(Tanh) = per_input([](Grad g, Output y) { return adjoint::tanh_backward(std::move(g), y); });
WEFT_GRADIENT(Sigmoid) = per_input([](Grad g, Output y) { return adjoint::sigmoid_backward(std::move(g), y); });
WEFT_GRADIENT(Relu) = per_input([](Grad g, Output y) { return adjoint::relu_backward(std::move(g), y); });
WEFT_GRADIENT(LeakyRelu) = per_input([](const op::LeakyRelu& op, Grad g, Input<0> x) {
  return adjoint::piecewise_backward(std::move(g), x, {.low = 0, .open = true, .outside = op.slope});
});
template <> inline constexpr int recomputed_inputs<op::LeakyRelu> = 1;
WEFT_GRADIENT(Silu) = per_input([](Grad g, Input<0> x) { return adjoint::silu_backward(std::move(g), x); });
template <> inline constexpr int recomputed_inputs<op::Silu> = 1;
WEFT_GRADIENT(Softplus) = per_input([](Grad g, Input<0> x) { return adjoint::softplus_backward(std::move(g), x); });
// erf'(x) = 2 / sqrt(pi) exp(-x^2)
WEFT_GRADIENT(Erf) = per_input([](Grad g, Input<0> x) {
  return g * (exp(-square(x)) * (2.0 * std::numbers::inv_sqrtpi));
});
// The gradient is 1 at the bounds and 0 for NaN, as in PyTorch.
WEFT_GRADIENT(Clip) = per_input([](const op::Clip& op, Grad g, Input<0> x) {
  op::Slopes slopes;
  if (op.min) slopes.low = op.min->to_double();
  if (op.max) slopes.high = op.max->to_double();
  return adjoint::piecewise_backward(std::move(g), x, slopes);
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
  return adjoint::gelu_backward(std::move(g), x, op.tanh_form ? Gelu::tanh : Gelu::exact);
});
template <> inline constexpr int recomputed_inputs<op::GeluOp> = 1;

}  // namespace weft::autograd

// Second derivatives of activations: each op is linear in g, and itself the gradient with respect to g.
#pragma once

#include <cmath>
#include <numbers>

#include "autograd/rule.h"
#include "tensor/adjoints/activation_backward.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"

namespace weft::autograd {

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
/// That of mish, x t with t = tanh(softplus(x)): t' = (1 - t^2) s, and s' = s (1 - s) for the sigmoid s.
inline Tensor mish_second(const Tensor& x) {
  const Tensor t = tanh(softplus(x)), s = sigmoid(x);
  return (1.0 - square(t)) * s * (x * (1.0 - s - t * s * 2.0) + 2.0);
}
/// s (1 - s) for the sigmoid s of x, whose second factor would be 0 where s rounds to 1.
inline Tensor sigmoid_slope(const Tensor& x) { return sigmoid(x) * sigmoid(-x); }
}  // namespace formulas

WEFT_GRADIENT(ReluBackward) = per_input(  //
    [](Grad gg, Input<1> y) { return adjoint::relu_backward(std::move(gg), y); }, no_gradient);
WEFT_GRADIENT(SigmoidBackward) = per_input(  //
    [](Grad gg, Input<1> y) { return adjoint::sigmoid_backward(std::move(gg), y); },
    [](Grad gg, Input<0> g, Input<1> y) { return gg * g * (1.0 - y * 2.0); });
WEFT_GRADIENT(TanhBackward) = per_input(  //
    [](Grad gg, Input<1> y) { return adjoint::tanh_backward(std::move(gg), y); },
    [](Grad gg, Input<0> g, Input<1> y) { return gg * g * (y * -2.0); });
WEFT_GRADIENT(SiluBackward) = per_input(  //
    [](Grad gg, Input<1> x) { return adjoint::silu_backward(std::move(gg), x); },
    [](Grad gg, Input<0> g, Input<1> x) {
      const Tensor s = sigmoid(x), rest = 1.0 - s;
      return gg * g * (s * rest * (x * (rest - s) + 2.0));
    });
WEFT_GRADIENT(SoftplusBackward) = per_input(  //
    [](Grad gg, Input<1> x) { return adjoint::softplus_backward(std::move(gg), x); },
    [](Grad gg, Input<0> g, Input<1> x) { return gg * g * formulas::sigmoid_slope(x); });
WEFT_GRADIENT(LogsigmoidBackward) = per_input(  //
    [](Grad gg, Input<1> x) { return adjoint::logsigmoid_backward(std::move(gg), x); },
    [](Grad gg, Input<0> g, Input<1> x) { return -gg * g * formulas::sigmoid_slope(x); });
WEFT_GRADIENT(HardswishBackward) = per_input(  //
    [](Grad gg, Input<1> x) { return adjoint::hardswish_backward(std::move(gg), x); },
    [](Grad gg, Input<0> g, Input<1> x) {
      return adjoint::piecewise_backward(gg * g, x, {.low = -3, .high = 3, .open = true, .inside = 1.0 / 3});
    });
WEFT_GRADIENT(MishBackward) = per_input(  //
    [](Grad gg, Input<1> x) { return adjoint::mish_backward(std::move(gg), x); },
    [](Grad gg, Input<0> g, Input<1> x) { return gg * g * formulas::mish_second(x); });
WEFT_GRADIENT(GeluBackward) = per_input(  //
    [](const op::GeluBackward& op, Grad gg, Input<1> x) {
      return adjoint::gelu_backward(std::move(gg), x, op.tanh_form ? Gelu::tanh : Gelu::exact);
    },
    [](const op::GeluBackward& op, Grad gg, Input<0> g, Input<1> x) {
      return gg * g * formulas::gelu_second(x, op.tanh_form);
    });
// Where x > 0 the slope is constant; the argument of exp is bounded, so that what is not selected stays finite.
WEFT_GRADIENT(EluBackward) = per_input(  //
    [](const op::EluBackward& op, Grad gg, Input<1> x) {
      return adjoint::elu_backward(std::move(gg), x, op.alpha, op.scale, op.input_scale);
    },
    [](const op::EluBackward& op, Grad gg, Input<0> g, Input<1> x) {
      const double factor = op.scale * op.alpha * op.input_scale * op.input_scale;
      const Tensor below = exp(clip(x, std::nullopt, 0.0) * op.input_scale) * factor;
      return adjoint::piecewise_backward(gg * g * below, x, {.high = 0});
    });
WEFT_GRADIENT(PiecewiseBackward) = per_input(  //
    [](const op::PiecewiseBackward& op, Grad gg, Input<1> x) {
      return adjoint::piecewise_backward(std::move(gg), x, op.slopes);
    },
    no_gradient);

}  // namespace weft::autograd

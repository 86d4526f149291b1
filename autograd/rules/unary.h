// Rules of element-wise functions.
#pragma once

#include <cmath>
#include <numbers>

#include "autograd/rule.h"
#include "tensor/adjoints/unary.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/ops/unary.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::Neg> = per_input([](Grad g) { return -g; });
template <>
inline constexpr auto gradient<op::Abs> = per_input([](Grad g, Input<0> x) { return g * sign(x); });
template <>
inline constexpr auto gradient<op::Sign> = per_input([](Grad g) { return zeros_like(g); });
template <>
inline constexpr auto gradient<op::Square> = per_input([](Grad g, Input<0> x) { return g * (x * 2.0); });
template <>
inline constexpr auto gradient<op::Sqrt> = per_input([](Grad g, Output y) { return g / (y * 2.0); });
template <>
inline constexpr auto gradient<op::Rsqrt> = per_input([](Grad g, Output y) { return g * (y * y * y) * -0.5; });
template <>
inline constexpr auto gradient<op::Reciprocal> = per_input([](Grad g, Output y) { return -g * (y * y); });
template <>
inline constexpr auto gradient<op::Exp> = per_input([](Grad g, Output y) { return g * y; });
template <>
inline constexpr auto gradient<op::Log> = per_input([](Grad g, Input<0> x) { return g / x; });
template <>
inline constexpr auto gradient<op::Log1p> = per_input([](Grad g, Input<0> x) { return g / (x + 1.0); });
template <>
inline constexpr auto gradient<op::Sin> = per_input([](Grad g, Input<0> x) { return g * cos(x); });
template <>
inline constexpr auto gradient<op::Cos> = per_input([](Grad g, Input<0> x) { return -g * sin(x); });
template <>
inline constexpr auto gradient<op::Tanh> = per_input([](Grad g, Output y) { return g * (1.0 - y * y); });
template <>
inline constexpr auto gradient<op::Sigmoid> = per_input([](Grad g, Output y) { return g * (y * (1.0 - y)); });
template <>
inline constexpr auto gradient<op::Relu> = per_input([](Grad g, Output y) { return adjoint::relu_backward(g, y); });
template <>
inline constexpr auto gradient<op::ReluBackward> =
    per_input([](Grad g, Input<1> y) { return adjoint::relu_backward(g, y); }, no_gradient);
template <>
inline constexpr auto gradient<op::LeakyRelu> = per_input([](const op::LeakyRelu& op, Grad g, Input<0> x) {
  return where(x > 0.0, g, g * op.slope);
});
template <>
inline constexpr int recomputed_inputs<op::LeakyRelu> = 1;
template <>
inline constexpr auto gradient<op::Silu> = per_input([](Grad g, Input<0> x) {
  const Tensor s = sigmoid(x);
  return g * (s * (x * (1.0 - s) + 1.0));
});
template <>
inline constexpr int recomputed_inputs<op::Silu> = 1;
template <>
inline constexpr auto gradient<op::Softplus> = per_input([](Grad g, Input<0> x) { return g * sigmoid(x); });
// erf'(x) = 2 / sqrt(pi) exp(-x^2)
template <>
inline constexpr auto gradient<op::Erf> = per_input([](Grad g, Input<0> x) {
  return g * (exp(-square(x)) * (2.0 * std::numbers::inv_sqrtpi));
});
// Gradient 1 at the bounds and for NaN.
template <>
inline constexpr auto gradient<op::Clip> = per_input([](const op::Clip& op, Grad g, Input<0> x) -> Tensor {
  Tensor out = g;
  if (op.min) out = where(x < *op.min, zeros_like(g), out);
  if (op.max) out = where(x > *op.max, zeros_like(g), out);
  return out;
});

template <>
inline constexpr auto gradient<op::GeluOp> = per_input([](const op::GeluOp& op, Grad g, Input<0> x) {
  return adjoint::gelu_backward(g, x, op.tanh_form ? Gelu::tanh : Gelu::exact);
});
template <>
inline constexpr int recomputed_inputs<op::GeluOp> = 1;

namespace detail {
/// The second derivative of gelu.
inline Tensor gelu_second(const Tensor& x, bool tanh_form) {
  if (!tanh_form) {  // (2 - x^2) phi(x)
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
}  // namespace detail

template <>
inline constexpr auto gradient<op::GeluBackward> =
    per_input([](const op::GeluBackward& op, Grad gg,
                 Input<1> x) { return adjoint::gelu_backward(gg, x, op.tanh_form ? Gelu::tanh : Gelu::exact); },
              [](const op::GeluBackward& op, Grad gg, Input<0> g, Input<1> x) {
  return gg * g * detail::gelu_second(x, op.tanh_form);
    });

}  // namespace weft::autograd

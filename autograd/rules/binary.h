// Rules of element-wise arithmetic. Operands have one shape and dtype: broadcasting and promotion were ops of their own.
#pragma once

#include <cmath>

#include "autograd/rule.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/binary.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::Add> = per_input([](Grad g) { return g; }, [](Grad g) { return g; });
template <>
inline constexpr auto gradient<op::Sub> = per_input([](Grad g) { return g; }, [](Grad g) { return -g; });
template <>
inline constexpr auto gradient<op::Mul> = per_input([](Grad g, Input<1> b) { return g * b; },
                                                    [](Grad g, Input<0> a) { return g * a; });
template <>
inline constexpr auto gradient<op::Div> = per_input([](Grad g, Input<1> b) { return g / b; },
                                                    [](Grad g, Input<0> a, Input<1> b) { return -g * (a / b) / b; });

namespace detail {
/// g where the side chosen is this one, half where both are equal; NaN goes to the first.
inline Tensor extremum_share(const Tensor& g, const Tensor& chosen, const Tensor& tie) {
  return where(tie, g * 0.5, where(chosen, g, zeros_like(g)));
}
}  // namespace detail

// PyTorch's conventions: a^0 has gradient 0 in a; 0^b with b >= 0 has gradient 0 in b.
template <>
inline constexpr auto gradient<op::Pow> =
    per_input([](Grad g, Input<0> a, Input<1> b) { return where(b == 0.0, zeros_like(g), g * b * pow(a, b - 1.0)); },
              [](Grad g, Input<0> a, Input<1> b, Output y) {
  const Tensor flat = logical_and(a == 0.0, b >= 0.0);
  return where(flat, zeros_like(g), g * y * log(where(flat, ones_like(a), a)));
    });
template <>
inline constexpr auto gradient<op::Maximum> =
    per_input([](Grad g, Input<0> a, Input<1> b) { return detail::extremum_share(g, a > b, a == b); },
              [](Grad g, Input<0> a, Input<1> b) { return detail::extremum_share(g, b > a, a == b); });
template <>
inline constexpr auto gradient<op::Minimum> =
    per_input([](Grad g, Input<0> a, Input<1> b) { return detail::extremum_share(g, a < b, a == b); },
              [](Grad g, Input<0> a, Input<1> b) { return detail::extremum_share(g, b < a, a == b); });

template <>
inline constexpr auto gradient<op::AddScalar> = per_input([](Grad g) { return g; });
template <>
inline constexpr auto gradient<op::RsubScalar> = per_input([](Grad g) { return -g; });
template <>
inline constexpr auto gradient<op::MulScalar> = per_input([](const op::MulScalar& op, Grad g) { return g * op.value; });
template <>
inline constexpr auto gradient<op::DivScalar> = per_input([](const op::DivScalar& op, Grad g) { return g / op.value; });
template <>
inline constexpr auto gradient<op::RdivScalar> = per_input([](Grad g, Input<0> x, Output y) { return -g * y / x; });
template <>
inline constexpr auto gradient<op::PowScalar> = per_input([](const op::PowScalar& op, Grad g, Input<0> x) {
  const double p = op.value.to_double();
  return p == 0.0 ? zeros_like(g) : g * (pow(x, p - 1.0) * p);
});
template <>
inline constexpr auto gradient<op::RpowScalar> = per_input([](const op::RpowScalar& op, Grad g, Input<0> x, Output y) {
  const double base = op.value.to_double();
  // 0^x is flat where x >= 0.
  return base == 0.0 ? where(x >= 0.0, zeros_like(g), g * y * std::log(base)) : g * y * std::log(base);
});

}  // namespace weft::autograd

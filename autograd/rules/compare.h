// Comparisons and logic have no gradient; where passes it to the side taken.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/compare.h"
#include "tensor/ops/fill.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::Eq> = not_differentiable;
template <>
inline constexpr auto gradient<op::Ne> = not_differentiable;
template <>
inline constexpr auto gradient<op::Lt> = not_differentiable;
template <>
inline constexpr auto gradient<op::Le> = not_differentiable;
template <>
inline constexpr auto gradient<op::Gt> = not_differentiable;
template <>
inline constexpr auto gradient<op::Ge> = not_differentiable;
template <>
inline constexpr auto gradient<op::LogicalAnd> = not_differentiable;
template <>
inline constexpr auto gradient<op::LogicalOr> = not_differentiable;
template <>
inline constexpr auto gradient<op::LogicalXor> = not_differentiable;
template <>
inline constexpr auto gradient<op::EqScalar> = not_differentiable;
template <>
inline constexpr auto gradient<op::NeScalar> = not_differentiable;
template <>
inline constexpr auto gradient<op::LtScalar> = not_differentiable;
template <>
inline constexpr auto gradient<op::LeScalar> = not_differentiable;
template <>
inline constexpr auto gradient<op::GtScalar> = not_differentiable;
template <>
inline constexpr auto gradient<op::GeScalar> = not_differentiable;
template <>
inline constexpr auto gradient<op::LogicalNot> = not_differentiable;
template <>
inline constexpr auto gradient<op::IsNan> = not_differentiable;
template <>
inline constexpr auto gradient<op::IsFinite> = not_differentiable;

template <>
inline constexpr auto gradient<op::Where> = per_input(
    no_gradient, [](Grad g, Input<0> condition) { return where(condition, g, zeros_like(g)); },
    [](Grad g, Input<0> condition) { return where(condition, zeros_like(g), g); });

}  // namespace weft::autograd

// Constructors have no inputs.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/fill.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::Full> = not_differentiable;
template <>
inline constexpr auto gradient<op::Arange> = not_differentiable;
template <>
inline constexpr auto gradient<op::Linspace> = not_differentiable;
template <>
inline constexpr auto gradient<op::Eye> = not_differentiable;

}  // namespace weft::autograd

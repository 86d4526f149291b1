// Optimizer steps write in place, outside of the tape.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/optimizer_step.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::SgdStep> = not_differentiable;
template <>
inline constexpr auto gradient<op::AdamStep> = not_differentiable;
template <>
inline constexpr auto gradient<op::RmspropStep> = not_differentiable;

}  // namespace weft::autograd

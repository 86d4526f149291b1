// Random tensors have no inputs.
#pragma once

#include "autograd/rule.h"
#include "tensor/ops/random.h"

namespace weft::autograd {

template <>
inline constexpr auto gradient<op::RandomFill> = not_differentiable;

}  // namespace weft::autograd

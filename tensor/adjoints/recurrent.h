// The gradient of a recurrent layer; called by rules.
#pragma once

#include <array>

#include "tensor/tensor.h"

namespace weft {
namespace op {
struct RecurrentBackward;
}
namespace adjoint {

/// What the gradient is computed from: the inputs of op::Recurrent and what it kept.
struct RecurrentInputs {
  Tensor projected, weight, bias, h0, c0, lengths, y, gates, cells;
};

/// The gradients of projected, weight, bias, h0 and c0; see op::RecurrentBackward.
std::array<Tensor, 5> recurrent_backward(const op::RecurrentBackward& op, const Tensor& gy, const Tensor& gh,
                                         const Tensor& gc, const RecurrentInputs& in);

}  // namespace adjoint
}  // namespace weft

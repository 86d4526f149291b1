// What losses share. For nn/'s own files.
#pragma once

#include <array>

#include "tensor/dispatch/modes.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/cross_entropy.h"
#include "tensor/functions/reduce.h"

namespace weft::nn::detail {

inline Tensor reduce(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::sum ? sum(loss) : mean(loss);
}

/// What a loss computes with. Under Autocast that is f32: the ops that losses are composed of would follow an input of
/// 16 bits, and differences, squares and their mean in 8 bits of precision lose what is learned from.
inline Tensor operand(const Tensor& x) {
  const bool half = is_half_precision(x.dtype());
  return half && modes().autocast != f32 ? cast(x, f32) : x;
}

/// Input and target as a loss computes with them. Nothing broadcasts by accident.
inline std::array<Tensor, 2> operands(const Tensor& x, const Tensor& y) {
  if (x.shape() != y.shape())
    throw ShapeError(text("input and target must have one shape, not ", x.shape(), " and ", y.shape()));
  return {operand(x), operand(y)};
}

}  // namespace weft::nn::detail

// Helpers of the losses; internal to nn/.
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

/// ShapeError unless the weights are undefined or one per class.
inline void check_class_weight(const Tensor& weight, int64_t classes) {
  if (weight.defined() && weight.shape() != Shape{classes})
    throw ShapeError(text("the class weights must be [", classes, "], not ", weight.shape()));
}

/// Converts a 16-bit input to f32 under Autocast. A loss that is composed of ops would otherwise compute in the input's
/// dtype, and 8 bits of precision are too few for differences, squares and their mean.
inline Tensor operand(const Tensor& x) {
  const bool half = is_half_precision(x.dtype());
  return half && internal::modes().autocast != f32 ? cast(x, f32) : x;
}

/// Input and target as operand() converts them. ShapeError unless they have the same shape, so that nothing broadcasts
/// by accident.
inline std::array<Tensor, 2> operands(const Tensor& x, const Tensor& y) {
  if (x.shape() != y.shape())
    throw ShapeError(text("input and target must have one shape, not ", x.shape(), " and ", y.shape()));
  return {operand(x), operand(y)};
}

}  // namespace weft::nn::detail

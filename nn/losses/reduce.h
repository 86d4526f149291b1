// What losses share. For nn/'s own files.
#pragma once

#include "tensor/functions/cross_entropy.h"
#include "tensor/functions/reduce.h"

namespace weft::nn::detail {

inline Tensor reduce(const Tensor& loss, Reduction reduction) {
  if (reduction == Reduction::none) return loss;
  return reduction == Reduction::sum ? sum(loss) : mean(loss);
}

/// Nothing broadcasts by accident.
inline void check_same_shape(const Tensor& x, const Tensor& y) {
  if (x.shape() != y.shape())
    throw ShapeError(text("input and target must have one shape, not ", x.shape(), " and ", y.shape()));
}

}  // namespace weft::nn::detail

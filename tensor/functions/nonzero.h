// Positions of what is not zero, in row-major order. NaN is not zero.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// (n, rank) i64: the coordinates of the n elements that are not zero.
Tensor nonzero(const Tensor& x);
/// (n) i64: their indices in the flattened tensor.
Tensor flatnonzero(const Tensor& x);
/// NumPy's name of nonzero.
Tensor argwhere(const Tensor& x);
/// The coordinates, one tensor for each axis: what x.index({...}) takes. A tensor without axes counts as one of shape
/// (1).
std::vector<Tensor> where(const Tensor& condition);

}  // namespace weft

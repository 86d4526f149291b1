// Positions of the non-zero elements, in row-major order. NaN counts as non-zero.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace weft {

/// The coordinates of the n non-zero elements: (n, rank), i64.
Tensor nonzero(const Tensor& x);
/// The indices of the n non-zero elements in the flattened tensor: (n), i64.
Tensor flatnonzero(const Tensor& x);
/// The same as nonzero(), under NumPy's name.
Tensor argwhere(const Tensor& x);
/// The coordinates of the true elements, as one tensor per axis, in the form that x.index({...}) takes. A 0-d tensor is
/// treated as a tensor of shape (1).
std::vector<Tensor> where(const Tensor& condition);

}  // namespace weft

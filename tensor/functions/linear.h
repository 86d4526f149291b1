// The product of rows with a weight plus a bias: what a linear layer computes.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// x (..., in) times the transpose of weight (out, in), plus bias (out) or nothing where it is undefined: (..., out).
/// Dtypes promote; DtypeError for bool. ShapeError `x has 3 features, weight [5, 4] takes 4`.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace weft

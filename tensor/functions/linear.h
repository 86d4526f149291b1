// x weight^T + bias, the function of a linear layer.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// x weight^T + bias: x (..., in), weight (out, in) and bias (out) give (..., out). An undefined bias counts as zero.
/// Dtypes promote; DtypeError for bool. ShapeError, for example `x has 3 features, weight [5, 4] takes 4`.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace weft

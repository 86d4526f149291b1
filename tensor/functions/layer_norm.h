// Layer normalisation (arXiv 1607.06450).
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias over the last `normalized_axes` axes; weight and bias (optional) have
/// their shape. The variance is biased and two-pass. The dtypes promote; DtypeError unless floating. ShapeError where x
/// has fewer axes, or a parameter another shape.
Tensor layer_norm(const Tensor& x, int64_t normalized_axes, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

}  // namespace weft

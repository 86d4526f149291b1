// Layer normalization (arXiv 1607.06450), and its form without a mean (arXiv 1910.07467).
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias, with mean and var over the last axes of x, whose sizes are
/// `normalized_shape`. weight and bias (optional) have that shape. The variance is biased, computed in two passes, and
/// in f32 for bf16 and f16. A bf16 or f16 x keeps its dtype if the parameters are f32; other dtypes promote. DtypeError
/// unless floating. ShapeError if x's last axes or a parameter have another shape, or if `normalized_shape` is empty.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * weight, with the mean over the last axes of x, whose sizes are `normalized_shape`;
/// weight (optional) has that shape. eps defaults to the machine epsilon of f64 if x is f64, else to that of f32.
/// Dtypes and errors are those of layer_norm().
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);

}  // namespace weft

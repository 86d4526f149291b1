// Layer normalisation (arXiv 1607.06450), and its form without a mean (arXiv 1910.07467).
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias over the last axes of x, whose shape is `normalized_shape`; weight and
/// bias (optional) have that shape. The variance is biased and two-pass, of bf16 and f16 in f32. bf16 and f16 stay what
/// they are, beside parameters of f32 too; other dtypes promote. DtypeError unless floating. ShapeError where x's last
/// axes have another shape, or a parameter has, or `normalized_shape` is empty.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

/// x / sqrt(mean(x^2) + eps) * weight over the last axes of x, whose shape is `normalized_shape`, in one pass; weight
/// (optional) has that shape. Where eps is absent, it is the least that f64 can add to 1 for f64, and f32 for the other
/// dtypes. Dtypes and errors as layer_norm's.
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);

}  // namespace weft

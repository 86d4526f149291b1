// Batch normalisation (arXiv 1502.03167).
#pragma once

#include "tensor/tensor.h"

namespace weft {

struct BatchNormResult {
  Tensor y;
  Tensor mean;  // (C), of this batch, without history
  Tensor rstd;  // (C), 1 / sqrt(biased variance + eps), without history
};

/// Over all axes but 1 of x (N, C) or (N, C, ...), with the batch's own statistics; weight and bias are (C), optional.
/// bf16 and f16 stay what they are, beside parameters of f32 too, and have statistics in f32; other dtypes promote.
/// DtypeError unless floating. ShapeError where a channel has one value. The running statistics are the business of
/// nn::BatchNorm.
BatchNormResult batch_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// The same with y = relu(y) in one pass over memory.
BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// With given statistics: (x - mean) / sqrt(var + eps) * weight + bias.
Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight = {},
                            const Tensor& bias = {}, double eps = 1e-5);

}  // namespace weft

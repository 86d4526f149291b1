// Batch normalisation (arXiv 1502.03167).
#pragma once

#include "tensor/apply.h"

namespace weft {

struct BatchNormResult {
  Tensor y;
  Tensor mean;  // (C), of this batch
  Tensor rstd;  // (C), 1 / sqrt(biased variance + eps)
};

/// Over all axes but 1 of x (N, C) or (N, C, ...), with the batch's own statistics; weight and bias are (C), optional.
/// The op is pure: nn::BatchNorm updates the running statistics. Error where a channel has one value.
BatchNormResult batch_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);
/// With given statistics: (x - mean) / sqrt(var + eps) * weight + bias.
Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight = {},
                            const Tensor& bias = {}, double eps = 1e-5);

}  // namespace weft

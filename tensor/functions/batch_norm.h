// Batch normalisation (arXiv 1502.03167).
#pragma once

#include "tensor/tensor.h"

namespace weft {

struct BatchNormResult {
  Tensor y;
  Tensor mean;  // (C), of this batch, without history
  Tensor rstd;  // (C), 1 / sqrt(biased variance + eps), without history
};

struct BatchNormFunctionOptions {
  bool training = false;  // normalises with the batch's own statistics, of which the running ones take their share
  double momentum = 0.1;  // that share
  double eps = 1e-5;
};

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel of x (N, C) or (N, C, ...); weight and bias are (C),
/// optional. In training the statistics are those of the batch, over all axes but 1, with a biased variance; the
/// running ones that are given become (1 - momentum) running + momentum (that of the batch), in place, with an unbiased
/// variance (not by an empty batch). Else they are the running ones. bf16 and f16 stay what they are, beside parameters
/// and statistics of f32 too; other dtypes promote. DtypeError unless floating. ShapeError where a channel has one
/// value in training, or a tensor another shape than (C); Error where running statistics are absent outside of
/// training, or eps is negative, or 0 in training.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight = {},
                  const Tensor& bias = {}, const BatchNormFunctionOptions& options = {});

/// relu(batch_norm()) with given statistics, in one pass over memory.
Tensor batch_norm_inference_relu(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                                 const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// batch_norm() in training, and the batch's statistics, which are f32 where x is bf16 or f16.
BatchNormResult batch_norm_with_statistics(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                                           double eps = 1e-5);
/// The same with y = relu(y) in one pass over memory.
BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

}  // namespace weft

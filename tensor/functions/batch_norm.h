// Batch normalization (arXiv 1502.03167).
#pragma once

#include "tensor/tensor.h"

namespace weft {

struct BatchNormResult {
  Tensor y;
  Tensor mean;  // (C), of this batch, without history
  Tensor rstd;  // (C), 1 / sqrt(var + eps), without history
  Tensor var;   // (C), of this batch, biased, without history
};

struct BatchNormFunctionOptions {
  bool training = false;  // normalize with the statistics of the batch and update the running statistics
  double momentum = 0.1;  // weight of the batch's statistics in that update
  double eps = 1e-5;
};

/// (x - mean) / sqrt(var + eps) * weight + bias for each channel of x (N, C) or (N, C, ...). weight and bias are (C)
/// and optional.
/// In training, mean and (biased) var are computed from the batch over all axes except axis 1. Running statistics, if
/// given, are updated in place: running = (1 - momentum) running + momentum batch, with the unbiased variance of the
/// batch. An empty batch leaves them unchanged. If autograd::checkpoint() runs it again, they are updated again (the
/// layers' are not). Outside of training, mean and var are the running statistics.
/// A bf16 or f16 x keeps its dtype if parameters and statistics are f32; other dtypes promote. DtypeError unless
/// floating. ShapeError if a channel has only one value in training, or if a parameter or statistic is not (C). Error
/// if running statistics are absent outside of training, if eps is negative, or if eps is 0 in training.
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight = {},
                  const Tensor& bias = {}, const BatchNormFunctionOptions& options = {});

/// relu(batch_norm(...)) outside of training, in one pass over memory.
Tensor batch_norm_inference_relu(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                                 const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/// batch_norm() in training; also returns the statistics of the batch, which are f32 if x is bf16 or f16.
BatchNormResult batch_norm_with_statistics(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                                           double eps = 1e-5);
/// batch_norm_with_statistics() with relu applied to y, in one pass over memory.
BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

}  // namespace weft

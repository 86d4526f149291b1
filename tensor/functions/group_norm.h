// Normalisation per image: over groups of channels (arXiv 1803.08494), over each channel (arXiv 1607.08022), and by the
// neighbouring channels.
#pragma once

#include <concepts>

#include "tensor/tensor.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias over each of `groups` groups of neighbouring channels of each image of
/// x (N, C, ...). The variance is biased; weight and bias (C) are optional. Dtypes promote; DtypeError unless floating.
/// ShapeError where the channels do not divide into the groups.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

struct InstanceNormFunctionOptions {
  bool use_input_stats = true;  // else the running ones, as batch_norm() does outside of training
  double momentum = 0.1;        // what a batch has of the running statistics
  double eps = 1e-5;
};

/// group_norm() with one channel per group: over all axes of x (N, C, ...) but the first two. The running statistics
/// (C) that are given become (1 - momentum) running + momentum (the mean over the images of theirs), in place, with an
/// unbiased variance (not by an empty batch). ShapeError where a channel of an image has one value.
Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {},
                     const InstanceNormFunctionOptions& options = {});

struct LocalResponseNormOptions {
  int64_t size = 5;  // neighbouring channels, half of them on either side
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
};

/// x / (k + alpha mean(x^2 over `size` neighbouring channels))^beta of x (N, C, ...); channels beyond the first and the
/// last count as zero (Krizhevsky et al. 2012, with PyTorch's mean instead of the sum).
Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options = {});
/// A template, so that local_response_norm(x, {}) takes options.
template <std::convertible_to<int64_t> T>
Tensor local_response_norm(const Tensor& x, T size, double alpha = 1e-4, double beta = 0.75, double k = 1) {
  return local_response_norm(x, LocalResponseNormOptions{static_cast<int64_t>(size), alpha, beta, k});
}

}  // namespace weft

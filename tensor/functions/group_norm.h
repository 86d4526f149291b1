// Normalization of each image: over groups of channels (arXiv 1803.08494), over each channel (arXiv 1607.08022), and
// over adjacent channels.
#pragma once

#include <concepts>

#include "tensor/tensor.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias for x (N, C, ...). The channels form `groups` groups of consecutive
/// channels; mean and (biased) var are over each group of each image. weight and bias (C) are optional. Dtypes promote;
/// DtypeError unless floating. ShapeError if C is not divisible by groups, or, as in PyTorch, if the groups of a single
/// image have one value each.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

struct InstanceNormFunctionOptions {
  bool use_input_stats = true;  // false: use the running statistics, as batch_norm() outside of training
  double momentum = 0.1;        // weight of the batch's statistics in the update of the running statistics
  double eps = 1e-5;
};

/// group_norm() with one channel per group: statistics are over all axes of x (N, C, ...) except the first two. Running
/// statistics (C), if given, are updated in place: running = (1 - momentum) running + momentum s, where s is the mean
/// over the images of their statistics, with unbiased variances. An empty batch leaves them unchanged. If
/// autograd::checkpoint() runs it again, they are updated again (the layers' are not). ShapeError if a channel of an
/// image has only one value.
Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {},
                     const InstanceNormFunctionOptions& options = {});

struct LocalResponseNormOptions {
  int64_t size = 5;  // number of channels in the window, which is centered on the channel
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
};

/// x / (k + alpha m)^beta for x (N, C, ...), where m is the mean of x^2 over a window of `size` channels. Channels
/// before the first and after the last count as zero (Krizhevsky et al. 2012, with PyTorch's mean instead of the sum).
Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options = {});
/// The same with separate arguments. A template, so that local_response_norm(x, {}) means default options.
template <std::convertible_to<int64_t> T>
Tensor local_response_norm(const Tensor& x, T size, double alpha = 1e-4, double beta = 0.75, double k = 1) {
  return local_response_norm(x, LocalResponseNormOptions{static_cast<int64_t>(size), alpha, beta, k});
}

}  // namespace weft

// Normalisation per image: over groups of channels (arXiv 1803.08494), over each channel (arXiv 1607.08022), and by the
// neighbouring channels.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// (x - mean) / sqrt(var + eps) * weight + bias over each of `groups` groups of neighbouring channels of each image of
/// x (N, C, ...). The variance is biased; weight and bias (C) are optional. Dtypes promote; DtypeError unless floating.
/// ShapeError where the channels do not divide into the groups.
Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);

/// The same with one channel per group: over all axes of x (N, C, ...) but the first two.
Tensor instance_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

struct LocalResponseNormOptions {
  int64_t size = 5;  // neighbouring channels, half of them on either side
  double alpha = 1e-4;
  double beta = 0.75;
  double k = 1;
};

/// x / (k + alpha mean(x^2 over `size` neighbouring channels))^beta of x (N, C, ...); channels beyond the first and the
/// last count as zero (Krizhevsky et al. 2012, with PyTorch's mean instead of the sum).
Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options = {});

}  // namespace weft

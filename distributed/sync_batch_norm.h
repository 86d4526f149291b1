// Batch normalisation whose statistics are those of all ranks' batches together.
#pragma once

#include "distributed/group.h"
#include "nn/layers/norm.h"

namespace weft::distributed {

/// In the place of nn::BatchNorm1d, 2d and 3d in a model that several ranks train: x (N, C, ...), with N from 1 on and
/// other than the other ranks'. In training, mean and variance are over all ranks' x, and gradients flow through them
/// to every rank; the running statistics are the same everywhere. In evaluation, and alone, it is batch_norm() of this
/// rank's x. Names of parameters and buffers are nn::BatchNorm2d's, so that checkpoints fit both. ShapeError unless x
/// has num_features channels on axis 1.
class SyncBatchNorm : public nn::Layer<SyncBatchNorm> {
 public:
  SyncBatchNorm(const nn::BatchNormOptions& options, const Group& group);
  Tensor forward(const Tensor& x) const;

 private:
  Tensor normalize(const Tensor& x, const Tensor& mean, const Tensor& rstd) const;

  nn::BatchNormOptions options_;
  Group group_;
  Tensor weight_, bias_, running_mean_, running_var_, batches_;
};

}  // namespace weft::distributed

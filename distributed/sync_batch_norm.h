// Batch normalisation whose statistics are those of all ranks' batches together.
#pragma once

#include "distributed/group.h"
#include "nn/layers/batch_norm.h"

namespace weft::distributed {

/// In the place of nn::BatchNorm1d, 2d and 3d in a model that several ranks train: x (N, C, ...), where N may be 0 and
/// other than the other ranks'. In training, mean and variance are over all ranks' x, in f32 (f64 for f64), and
/// gradients flow through them to every rank; the running statistics are the same everywhere, and stay where all
/// batches are empty. In evaluation, and alone, it is nn's batch norm of this rank's x. Names of parameters and buffers
/// are nn::BatchNorm2d's, so that checkpoints fit both. ShapeError unless x has num_features channels on axis 1, and in
/// training where a channel has one value on all ranks together, which has no variance.
class SyncBatchNorm : public nn::BatchNorm {
 public:
  SyncBatchNorm(const nn::BatchNormOptions& options, const Group& group) : BatchNorm(options), group_(group) {}
  Tensor forward(const Tensor& x) const;
  Tensor forward_relu(const Tensor& x) const override;
  Tensor operator()(const Tensor& x) const { return nn::run_layer(*this, x); }
  SyncBatchNorm remake() const { return SyncBatchNorm(options(), group_); }

 private:
  Group group_;
};

}  // namespace weft::distributed

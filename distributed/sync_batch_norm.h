// Batch normalization with statistics over the batches of all ranks.
#pragma once

#include "distributed/group.h"
#include "nn/layers/batch_norm.h"

namespace weft::distributed {

/// Replaces nn::BatchNorm1d, 2d and 3d in a model that several ranks train. x is (N, C, ...); N may be 0 and may differ
/// between ranks. In training, mean and variance are computed over all ranks' x, in f32 (f64 for f64), and gradients
/// flow through them to every rank. The running statistics are the same on all ranks, and unchanged if all batches are
/// empty. In evaluation, or with one rank, it is nn's batch norm. Parameters and buffers have the names of
/// nn::BatchNorm2d, so checkpoints are interchangeable. ShapeError unless axis 1 of x has num_features channels, and in
/// training if a channel has only one value over all ranks, which has no variance.
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

// Batch normalisation layers: BatchNorm1d, BatchNorm2d, BatchNorm3d.
#pragma once

#include <optional>
#include <utility>

#include "nn/module/layer.h"
#include "tensor/functions/batch_norm.h"
#include "tensor/functions/pool.h"

namespace weft::nn {

/// What norms of channels may have: weight and bias (C), which start at 1 and 0, and the buffers running_mean,
/// running_var and num_batches_tracked (i64).
class ChannelNorm : public Module {
 public:
  Tensor weight() const { return weight_; }
  Tensor bias() const { return bias_; }

 protected:
  /// Registers weight and bias where `affine`, the buffers where `track_running_stats`.
  void register_channels(int64_t channels, bool affine, bool track_running_stats, DType dtype);

  Tensor weight_, bias_;
  Tensor running_mean_, running_var_, batches_;
};

struct BatchNormOptions {
  int64_t num_features = 0;
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // of the running statistics; absent: their plain average over all batches
  bool affine = true;                    // has weight and bias
  bool track_running_stats = true;       // else eval() uses the batch's statistics too
  DType dtype = f32;
};

/// What batch normalisations share: weight and bias (C) start at 1 and 0; the buffers running_mean, running_var (of the
/// unbiased variance) and num_batches_tracked (i64) are updated in training (not by an empty batch) and used in
/// evaluation. See batch_norm().
class BatchNorm : public ChannelNorm {
 public:
  Tensor running_mean() const { return running_mean_; }
  Tensor running_var() const { return running_var_; }
  /// Whether forward() normalises with the batch's own statistics, not the running ones.
  bool of_batch() const { return is_training() || !options_.track_running_stats; }
  /// With the running statistics, forward(x) is x scale + shift by channels: {scale, shift}.
  std::pair<Tensor, Tensor> scale_and_shift() const;
  /// relu(forward(x)) in one pass over memory, two where hooks are registered: those of this layer see forward(x).
  /// Sequential calls it for a batch norm in front of a ReLU.
  virtual Tensor forward_relu(const Tensor& x) const = 0;

 protected:
  explicit BatchNorm(const BatchNormOptions& options);
  Tensor normalize(const Tensor& x, bool then_relu) const;
  void check_features(const Tensor& x) const;
  /// Updates the running statistics from those of a batch like x, in training.
  Tensor tracked(BatchNormResult result, const Tensor& x) const;
  /// Updates them from the mean and 1 / sqrt(variance + eps) of `count` values a channel.
  void track(const Tensor& mean, const Tensor& rstd, int64_t count) const;
  const BatchNormOptions& options() const { return options_; }
  double eps() const { return options_.eps; }

 private:
  BatchNormOptions options_;
};

/// What BatchNorm1d, 2d and 3d share: they differ in the x that they take.
class BatchNormNd : public BatchNorm {
 public:
  Tensor forward(const Tensor& x) const { return checked(x, false); }
  Tensor forward_relu(const Tensor& x) const override;
  Tensor operator()(const Tensor& x) const { return run_layer(*this, x); }

 protected:
  /// The layer's name in errors, and the ranks and shapes of x.
  struct Input {
    const char* layer;
    int64_t least_rank, most_rank;
    const char* shapes;
  };
  BatchNormNd(const BatchNormOptions& options, const Input& input) : BatchNorm(options), input_(input) {}
  Tensor checked(const Tensor& x, bool then_relu) const;

 private:
  Input input_;
};

/// Over x (N, C) or (N, C, L).
class BatchNorm1d : public BatchNormNd {
 public:
  explicit BatchNorm1d(const BatchNormOptions& options)
      : BatchNormNd(options, {"BatchNorm1d", 2, 3, "(N, C) or (N, C, L)"}) {}
  explicit BatchNorm1d(int64_t features) : BatchNorm1d({.num_features = features}) {}
  BatchNorm1d remake() const { return BatchNorm1d(options()); }
};

/// Over x (N, C, H, W).
class BatchNorm2d : public BatchNormNd {
 public:
  explicit BatchNorm2d(const BatchNormOptions& options) : BatchNormNd(options, {"BatchNorm2d", 4, 4, "(N, C, H, W)"}) {}
  explicit BatchNorm2d(int64_t features) : BatchNorm2d({.num_features = features}) {}
  /// max_pool2d(relu(forward(x)), options); in training in one pass where batch_norm_relu_max_pool2d has one, unless
  /// hooks are registered.
  Tensor forward_relu_max_pool(const Tensor& x, const Pool2dOptions& options) const;
  BatchNorm2d remake() const { return BatchNorm2d(options()); }
};

/// Over x (N, C, D, H, W).
class BatchNorm3d : public BatchNormNd {
 public:
  explicit BatchNorm3d(const BatchNormOptions& options)
      : BatchNormNd(options, {"BatchNorm3d", 5, 5, "(N, C, D, H, W)"}) {}
  explicit BatchNorm3d(int64_t features) : BatchNorm3d({.num_features = features}) {}
  BatchNorm3d remake() const { return BatchNorm3d(options()); }
};

}  // namespace weft::nn

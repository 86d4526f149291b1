// Batch normalization layers: BatchNorm1d, BatchNorm2d, BatchNorm3d.
#pragma once

#include <optional>
#include <utility>

#include "nn/layers/options.h"
#include "nn/module/layer.h"
#include "tensor/functions/batch_norm.h"
#include "tensor/functions/pool.h"

namespace weft::nn {

/// Base of the norms with per-channel parameters: weight and bias (C), which start at 1 and 0, and the buffers
/// running_mean, running_var and num_batches_tracked (i64). All of them are optional.
class ChannelNorm : public Module {
 public:
  Tensor weight() const { return weight_; }
  Tensor bias() const { return bias_; }

 protected:
  /// Registers weight and bias if `affine`, and the buffers if `track_running_stats`.
  void register_channels(int64_t channels, bool affine, bool track_running_stats, DType dtype);

  Tensor weight_, bias_;
  Tensor running_mean_, running_var_, batches_;
};

struct BatchNormOptions {
  int64_t num_features = 0;
  double eps = 1e-5;
  /// Of the running statistics: new = (1 - momentum) old + momentum batch. nullopt: the average over all batches.
  std::optional<double> momentum = 0.1;
  bool affine = true;  // has weight and bias
  /// If false, there are no running statistics, and evaluation uses the batch's statistics too.
  bool track_running_stats = true;
  DType dtype = f32;
};

/// Base of the batch norms; see batch_norm(). weight and bias (C) start at 1 and 0. The buffers running_mean,
/// running_var (of the unbiased variance) and num_batches_tracked (i64) are updated in training, except by an empty
/// batch, and used in evaluation. A forward() that throws, as where memory runs out, may have updated them.
class BatchNorm : public ChannelNorm {
 public:
  Tensor running_mean() const { return running_mean_; }
  Tensor running_var() const { return running_var_; }
  /// Whether forward() normalizes with the batch's statistics instead of the running ones.
  bool of_batch() const { return is_training() || !options_.track_running_stats; }
  /// {scale, shift} such that forward(x) with the running statistics is x * scale + shift, per channel, in `dtype`.
  std::pair<Tensor, Tensor> scale_and_shift(DType dtype) const;
  /// relu(forward(x)) in one pass over memory. With hooks registered it takes two, and the hooks of this layer receive
  /// forward(x). Sequential calls it for a batch norm followed by a ReLU.
  virtual Tensor forward_relu(const Tensor& x) const = 0;

 protected:
  explicit BatchNorm(const BatchNormOptions& options);
  Tensor normalize(const Tensor& x, bool then_relu) const;
  void check_features(const Tensor& x) const;
  /// In training, updates the running statistics from those of the batch x.
  Tensor tracked(BatchNormResult result, const Tensor& x) const;
  /// Updates the running statistics from a batch's mean and biased variance, computed over `count` values per channel.
  void track(const Tensor& mean, const Tensor& var, int64_t count) const;
  const BatchNormOptions& options() const { return options_; }
  double eps() const { return options_.eps; }

 private:
  BatchNormOptions options_;
};

/// Base of BatchNorm1d, 2d and 3d, which differ only in the input shapes that they accept. The constructor throws a
/// ShapeError if num_features is missing and an Error for eps < 0 or a momentum outside [0, 1]. A call throws a
/// ShapeError for another shape or number of channels, and if it uses the batch's statistics and each channel has only
/// one value.
class BatchNormNd : public BatchNorm {
 public:
  Tensor forward(const Tensor& x) const { return checked(x, false); }
  Tensor forward_relu(const Tensor& x) const override;
  Tensor operator()(const Tensor& x) const;

 protected:
  /// The layer's name for error messages, and the ranks and shapes that it accepts.
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

/// Batch norm over the channels of x (N, C) or (N, C, L). Errors as BatchNormNd.
class BatchNorm1d : public BatchNormNd {
 public:
  explicit BatchNorm1d(const BatchNormOptions& options)
      : BatchNormNd(options, {"BatchNorm1d", 2, 3, "(N, C) or (N, C, L)"}) {}
  explicit BatchNorm1d(int64_t features, const BatchNormOptions& options = {})
      : BatchNorm1d(detail::positional(options, &BatchNormOptions::num_features, features)) {}
  BatchNorm1d remake() const { return BatchNorm1d(options()); }
};

/// Batch norm over the channels of x (N, C, H, W). Errors as BatchNormNd.
class BatchNorm2d : public BatchNormNd {
 public:
  explicit BatchNorm2d(const BatchNormOptions& options) : BatchNormNd(options, {"BatchNorm2d", 4, 4, "(N, C, H, W)"}) {}
  explicit BatchNorm2d(int64_t features, const BatchNormOptions& options = {})
      : BatchNorm2d(detail::positional(options, &BatchNormOptions::num_features, features)) {}
  /// max_pool2d(relu(forward(x)), options). In training, this is one pass over memory if batch_norm_relu_max_pool2d
  /// supports it and no hooks are registered.
  Tensor forward_relu_max_pool(const Tensor& x, const Pool2dOptions& options) const;
  BatchNorm2d remake() const { return BatchNorm2d(options()); }
};

/// Batch norm over the channels of x (N, C, D, H, W). Errors as BatchNormNd.
class BatchNorm3d : public BatchNormNd {
 public:
  explicit BatchNorm3d(const BatchNormOptions& options)
      : BatchNormNd(options, {"BatchNorm3d", 5, 5, "(N, C, D, H, W)"}) {}
  explicit BatchNorm3d(int64_t features, const BatchNormOptions& options = {})
      : BatchNorm3d(detail::positional(options, &BatchNormOptions::num_features, features)) {}
  BatchNorm3d remake() const { return BatchNorm3d(options()); }
};

}  // namespace weft::nn

// Normalization layers that do not use batch statistics: GroupNorm, InstanceNorm1d/2d/3d, RMSNorm, LocalResponseNorm.
#pragma once

#include <optional>

#include "nn/layers/batch_norm.h"
#include "nn/layers/options.h"
#include "tensor/functions/group_norm.h"

namespace weft::nn {

struct GroupNormOptions {
  int64_t num_groups = 0;
  int64_t num_channels = 0;  // must be divisible by num_groups
  double eps = 1e-5;
  bool affine = true;  // has weight and bias
  DType dtype = f32;
};

/// Normalizes each group of channels of x (N, C, ...); see group_norm(). weight and bias (C) start at 1 and 0.
class GroupNorm : public Layer<GroupNorm> {
 public:
  explicit GroupNorm(const GroupNormOptions& options);
  GroupNorm(int64_t num_groups, int64_t num_channels, const GroupNormOptions& options = {})
      : GroupNorm(detail::positional(options, &GroupNormOptions::num_groups, num_groups,
                                     &GroupNormOptions::num_channels, num_channels)) {}
  Tensor forward(const Tensor& x) const;
  GroupNorm remake() const { return GroupNorm(options_); }

  Tensor weight() const { return weight_; }
  Tensor bias() const { return bias_; }

 private:
  GroupNormOptions options_;
  Tensor weight_, bias_;
};

struct InstanceNormOptions {
  int64_t num_features = 0;
  double eps = 1e-5;
  double momentum = 0.1;             // of the running statistics
  bool affine = false;               // has weight and bias
  bool track_running_stats = false;  // evaluation uses running_mean and running_var
  DType dtype = f32;
};

/// Base of the instance norms: normalizes each channel of each sample of x (N, C, ...) or (C, ...); see
/// instance_norm().
class InstanceNorm : public ChannelNorm {
 protected:
  InstanceNorm(const InstanceNormOptions& options, const char* name, int64_t places);
  Tensor normalize(const Tensor& x) const;
  const InstanceNormOptions& options() const { return options_; }

 private:
  InstanceNormOptions options_;
  const char* name_;
  int64_t places_;  // number of axes after the channels
};

#define WEFT_INSTANCE_NORM(Name, places, shape)                                                 \
  /** Instance norm over the spatial axes of x shape; N may be absent. See InstanceNorm. */     \
  class Name : public InstanceNorm {                                                            \
   public:                                                                                      \
    explicit Name(const InstanceNormOptions& options) : InstanceNorm(options, #Name, places) {} \
    explicit Name(int64_t features, const InstanceNormOptions& options = {})                    \
        : Name(detail::positional(options, &InstanceNormOptions::num_features, features)) {}    \
    Tensor forward(const Tensor& x) const { return normalize(x); }                              \
    Tensor operator()(const Tensor& x) const { return run_layer(*this, x); }                    \
    Name remake() const { return Name(options()); }                                             \
  };
WEFT_INSTANCE_NORM(InstanceNorm1d, 1, (N, C, L))
WEFT_INSTANCE_NORM(InstanceNorm2d, 2, (N, C, H, W))
WEFT_INSTANCE_NORM(InstanceNorm3d, 3, (N, C, D, H, W))
#undef WEFT_INSTANCE_NORM

struct RMSNormOptions {
  Shape normalized_shape = {};
  std::optional<double> eps = std::nullopt;  // nullopt: machine epsilon of f32 (of f64 for f64)
  bool affine = true;                        // has a weight
  DType dtype = f32;
};

/// x / sqrt(mean(x^2) + eps) * weight over the last axes, whose sizes must be `normalized_shape`; see rms_norm().
/// weight starts at 1.
class RMSNorm : public Layer<RMSNorm> {
 public:
  explicit RMSNorm(const RMSNormOptions& options);
  explicit RMSNorm(int64_t size, const RMSNormOptions& options = {})
      : RMSNorm(detail::positional(options, &RMSNormOptions::normalized_shape, Shape{size})) {}
  /// A template, so that RMSNorm({.eps = ...}) does not match it: non-template overloads are preferred.
  template <class = void>
  explicit RMSNorm(const Shape& shape, const RMSNormOptions& options = {})
      : RMSNorm(detail::positional(options, &RMSNormOptions::normalized_shape, shape)) {}
  Tensor forward(const Tensor& x) const;
  RMSNorm remake() const { return RMSNorm(options_); }

  Tensor weight() const { return weight_; }

 private:
  RMSNormOptions options_;
  Tensor weight_;
};

/// See local_response_norm().
class LocalResponseNorm : public Layer<LocalResponseNorm> {
 public:
  explicit LocalResponseNorm(const LocalResponseNormOptions& options);
  explicit LocalResponseNorm(int64_t size, const LocalResponseNormOptions& options = {})
      : LocalResponseNorm(detail::positional(options, &LocalResponseNormOptions::size, size)) {}
  Tensor forward(const Tensor& x) const { return local_response_norm(x, options_); }
  LocalResponseNorm remake() const { return LocalResponseNorm(options_); }

 private:
  LocalResponseNormOptions options_;
};

}  // namespace weft::nn

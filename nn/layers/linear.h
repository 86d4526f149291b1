// Linear: y = x weight^T + bias.
#pragma once

#include "nn/layers/options.h"
#include "nn/module/layer.h"

namespace weft::nn {

struct LinearOptions {
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  DType dtype = f32;
};

/// x (..., in) -> (..., out). weight is (out, in) and bias is (out). Both are initialized uniformly in [-1 / sqrt(in),
/// 1 / sqrt(in)), as in PyTorch.
class Linear : public Layer<Linear> {
 public:
  explicit Linear(const LinearOptions& options);
  Linear(int64_t in_features, int64_t out_features, bool bias = true)
      : Linear(LinearOptions{.in_features = in_features, .out_features = out_features, .bias = bias}) {}
  Linear(int64_t in_features, int64_t out_features, const LinearOptions& options)
      : Linear(detail::positional(options, &LinearOptions::in_features, in_features, &LinearOptions::out_features,
                                  out_features)) {}
  Tensor forward(const Tensor& x) const;
  Linear remake() const { return Linear(weight_.size(1), weight_.size(0), bias_.defined()); }

  int64_t in_features() const { return weight_.size(1); }
  int64_t out_features() const { return weight_.size(0); }
  Tensor weight() const { return weight_; }
  /// Undefined if the layer has no bias.
  Tensor bias() const { return bias_; }

 private:
  Tensor weight_;
  Tensor bias_;
};

}  // namespace weft::nn

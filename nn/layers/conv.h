// Conv2d: a layer over conv2d().
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/conv.h"

namespace weft::nn {

struct Conv2dOptions {
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  Pair kernel_size = 0;
  Pair stride = 1;
  Pair padding = 0;
  Pair dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  DType dtype = f32;
};

/// x (N, in, H, W) to (N, out, H', W'). weight is (out, in / groups, kh, kw), bias (out); both start uniform in
/// +-1 / sqrt(in / groups * kh * kw), as in PyTorch.
class Conv2d : public Layer<Conv2d> {
 public:
  explicit Conv2d(const Conv2dOptions& options);
  Tensor forward(const Tensor& x) const;

  Tensor weight() const { return weight_; }
  /// Undefined where there is none.
  Tensor bias() const { return bias_; }

 private:
  weft::Conv2dOptions options_;
  Tensor weight_;
  Tensor bias_;
};

}  // namespace weft::nn

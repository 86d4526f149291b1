// Bilinear: y[k] = a^T weight[k] b + bias[k], for two inputs a and b.
#pragma once

#include "nn/layers/options.h"
#include "nn/module/layer.h"

namespace weft::nn {

struct BilinearOptions {
  int64_t in1_features = 0;
  int64_t in2_features = 0;
  int64_t out_features = 0;
  bool bias = true;
  DType dtype = f32;
};

/// a (..., in1) and b (..., in2) -> (..., out). weight is (out, in1, in2) and bias is (out). Both are initialized
/// uniformly in [-1 / sqrt(in1), 1 / sqrt(in1)), as in PyTorch. ShapeError unless a and b have the same axes before the
/// last.
class Bilinear : public Layer<Bilinear> {
 public:
  explicit Bilinear(const BilinearOptions& options);
  Bilinear(int64_t in1_features, int64_t in2_features, int64_t out_features, const BilinearOptions& options = {})
      : Bilinear(detail::positional(options, &BilinearOptions::in1_features, in1_features,
                                    &BilinearOptions::in2_features, in2_features, &BilinearOptions::out_features,
                                    out_features)) {}
  Tensor forward(const Tensor& a, const Tensor& b) const;
  Bilinear remake() const;

  Tensor weight() const { return weight_; }
  /// Undefined if the layer has no bias.
  Tensor bias() const { return bias_; }

 private:
  Tensor weight_, bias_;
};

}  // namespace weft::nn

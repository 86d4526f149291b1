// LayerNorm: normalization over the last axes.
#pragma once

#include "nn/layers/options.h"
#include "nn/module/layer.h"

namespace weft::nn {

struct LayerNormOptions {
  Shape normalized_shape = {};
  double eps = 1e-5;
  bool affine = true;  // has a weight
  bool bias = true;    // has a bias too
  DType dtype = f32;
};

/// Normalizes over the last axes of x, whose sizes must be `normalized_shape`. weight and bias have that shape and
/// start at 1 and 0.
class LayerNorm : public Layer<LayerNorm> {
 public:
  explicit LayerNorm(const LayerNormOptions& options);
  explicit LayerNorm(int64_t size, const LayerNormOptions& options = {})
      : LayerNorm(detail::positional(options, &LayerNormOptions::normalized_shape, Shape{size})) {}
  /// A template, so that LayerNorm({.eps = ...}) does not match it: non-template overloads are preferred.
  template <class = void>
  explicit LayerNorm(const Shape& shape, const LayerNormOptions& options = {})
      : LayerNorm(detail::positional(options, &LayerNormOptions::normalized_shape, shape)) {}
  Tensor forward(const Tensor& x) const;
  LayerNorm remake() const { return LayerNorm(options_); }

  Tensor weight() const { return weight_; }
  Tensor bias() const { return bias_; }

 private:
  LayerNormOptions options_;
  Tensor weight_;
  Tensor bias_;
};

}  // namespace weft::nn

// Upsample: a layer over interpolate().
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/interpolate.h"

namespace weft::nn {

/// See interpolate(): Upsample({.scale = 2.0, .mode = Interpolation::bilinear}). Error unless either a size or a scale
/// is given.
class Upsample : public Layer<Upsample> {
 public:
  explicit Upsample(const InterpolateOptions& options);
  Tensor forward(const Tensor& x) const { return interpolate(x, options_); }
  Upsample remake() const { return Upsample(options_); }

 private:
  InterpolateOptions options_;
};

}  // namespace weft::nn

// Upsample: interpolate() as a layer.
#pragma once

#include "nn/module/layer.h"
#include "tensor/functions/interpolate.h"

namespace weft::nn {

/// See interpolate(): Upsample({.scale = 2.0, .mode = Interpolation::bilinear}). Error unless exactly one of size and
/// scale is given.
class Upsample : public Layer<Upsample> {
 public:
  explicit Upsample(const InterpolateOptions& options);
  Tensor forward(const Tensor& x) const { return interpolate(x, options_); }
  Upsample remake() const { return Upsample(options_); }

 private:
  InterpolateOptions options_;
};

}  // namespace weft::nn

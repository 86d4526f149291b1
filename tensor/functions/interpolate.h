// Resizing of images and other spatial data.
#pragma once

#include <initializer_list>
#include <vector>

#include "tensor/core/interpolation.h"
#include "tensor/tensor.h"

namespace weft {

/// Scale factors: one for all axes, or one per axis.
struct Scales {
  std::vector<double> values;
  Scales() = default;
  Scales(double all) : values{all} {}
  Scales(std::initializer_list<double> list) : values(list) {}
};

struct InterpolateOptions {
  Shape size = {};    // output sizes of the spatial axes, or one number for all of them
  Scales scale = {};  // instead of `size`: the output size is floor(input size * scale)
  Interpolation mode = Interpolation::nearest;
  bool align_corners = false;  // align the centers of the corner pixels instead of the edges of the images
};

/// Resizes the spatial axes of a floating x (N, C, L), (N, C, H, W) or (N, C, D, H, W). N may be absent if the mode's
/// name or a list of sizes says how many spatial axes there are. The result is row-major if x is, else channels-last.
/// Pixel i of the result is sampled at position (i + 0.5) / scale - 0.5 of x; with align_corners, at
/// i (in - 1) / (out - 1). Differentiable any number of times. ShapeError or Error if the options do not fit x.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

}  // namespace weft

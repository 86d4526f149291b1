// Images made larger or smaller.
#pragma once

#include <initializer_list>
#include <vector>

#include "tensor/core/interpolation.h"
#include "tensor/tensor.h"

namespace weft {

/// Factors, one for all axes or one per axis.
struct Scales {
  std::vector<double> values;
  Scales() = default;
  Scales(double all) : values{all} {}
  Scales(std::initializer_list<double> list) : values(list) {}
};

struct InterpolateOptions {
  Shape size = {};    // of the result's axes after the channels, or one number for all of them
  Scales scale = {};  // in place of a size: the result has floor(size * scale)
  Interpolation mode = Interpolation::nearest;
  bool align_corners = false;  // centres of the corner pixels fall together, not the edges of the images
};

/// x (N, C, L), (N, C, H, W) or (N, C, D, H, W), floating, to another size; the channels keep theirs. Modes that are
/// named after a number of axes, and lists of sizes, also take x without N. The result is in x's memory order where
/// that is row-major, else channels-last. Pixel i of the result lies at (i + 0.5) / scale - 0.5 of x, with
/// align_corners at i (in - 1) / (out - 1). Differentiable any number of times. ShapeError or Error where the options
/// do not fit x.
Tensor interpolate(const Tensor& x, const InterpolateOptions& options);

}  // namespace weft

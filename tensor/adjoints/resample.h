// Resampling of images by a map per axis, which functions and rules share.
#pragma once

#include <span>

#include "tensor/ops/resample.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// x (N, C, H, W), whose lines and columns go through one map each.
Tensor resample(const Tensor& x, const AxisMap& lines, const AxisMap& columns);
/// x (N, C, ...) with one to three axes after the channels, one map for each.
Tensor resample(const Tensor& x, std::span<const AxisMap> maps);

}  // namespace weft::adjoint

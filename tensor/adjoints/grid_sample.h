// The gradients of sampling images at any places; called by rules.
#pragma once

#include <array>

#include "tensor/core/interpolation.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradients of x and grid. Those whose bit (0, 1) is not in `wanted` are not computed and have shape [0].
std::array<Tensor, 2> grid_sample_backward(const Tensor& g, const Tensor& x, const Tensor& grid,
                                           const GridSampleOptions& options, int wanted = 0b11);

}  // namespace weft::adjoint

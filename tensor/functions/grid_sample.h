// Sampling of images at arbitrary points (spatial transformer networks: Jaderberg et al., arXiv 1506.02025).
#pragma once

#include "tensor/core/interpolation.h"
#include "tensor/tensor.h"

namespace weft {

/// x (N, C, H, W) and grid (N, H', W', 2) of (column, row) points in [-1, 1] give (N, C, H', W'). x (N, C, D, H, W) and
/// grid (N, D', H', W', 3) of (column, row, depth) points give (N, C, D', H', W'). Differentiable in x and grid (in
/// mode nearest the gradient of the grid is 0). A point that is NaN gives 0, and so does an infinite one, unless the
/// padding is border. Channels-last images are not copied. ShapeError if shapes do not match; DtypeError unless
/// floating.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});

/// The sampling grid for affine maps theta and an image of `size`. theta (N, 2, 3) and size (N, C, H, W) give
/// (N, H, W, 2); theta (N, 3, 4) and size (N, C, D, H, W) give (N, D, H, W, 3).
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false);

}  // namespace weft

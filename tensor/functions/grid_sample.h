// Images read at arbitrary points (spatial transformer networks: Jaderberg et al., arXiv 1506.02025).
#pragma once

#include "tensor/core/interpolation.h"
#include "tensor/tensor.h"

namespace weft {

/// x (N, C, H, W) and grid (N, H', W', 2) of (column, row) points in [-1, 1]: (N, C, H', W'). Or x (N, C, D, H, W) and
/// grid (N, D', H', W', 3) of (column, row, depth): (N, C, D', H', W'). Both are differentiated (in mode nearest the
/// gradient of the grid is 0). Points that are NaN give 0. Channels-last images are read as they are. ShapeError where
/// shapes do not fit together; DtypeError unless floating.
Tensor grid_sample(const Tensor& x, const Tensor& grid, const GridSampleOptions& options = {});

/// The grid (N, H, W, 2) of an image of `size` (N, C, H, W) under the affine maps theta (N, 2, 3), or (N, D, H, W, 3)
/// of (N, C, D, H, W) under (N, 3, 4).
Tensor affine_grid(const Tensor& theta, const Shape& size, bool align_corners = false);

}  // namespace weft

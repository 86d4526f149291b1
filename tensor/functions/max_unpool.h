// Pooled values put back where they came from.
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft {

/// Zeros with the values of x (N, C, ...) or (C, ...) where `indices` of the same shape, as max_pool2d_with_indices
/// gives them, say; the mean of values that meet. The result has `size` along its last axes, else (size - 1) stride - 2
/// padding + kernel of x's. Error for a dilation; ShapeError for a size that no pool of these options would make x of;
/// IndexError for indices outside of it.
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const Pool1dOptions& options, const Shape& size = {});
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Pool2dOptions& options, const Shape& size = {});
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Pool3dOptions& options, const Shape& size = {});

}  // namespace weft

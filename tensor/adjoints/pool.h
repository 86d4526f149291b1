// Gradients of pooling, and what they need, called by rules; and max pools with any windows. Tensors are (N, C, H, W).
#pragma once

#include "tensor/ops/pool.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// The maximum of each window; and its row * W + column, i64.
Tensor max_pool2d(const Tensor& x, const MaxWindows& windows);
ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const MaxWindows& windows);
/// Of (N, C, D, H, W): of windows that `planes` gives in height and width and `depth`, as (D, 1), in depth.
Tensor max_pool3d(const Tensor& x, const MaxWindows& planes, const MaxWindows& depth);
ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const MaxWindows& planes, const MaxWindows& depth);
/// The gradient of max_pool2d from the indices of its maxima (the op's second result), for an input of `input_shape`.
Tensor max_pool2d_backward(const Tensor& g, const Tensor& indices, const Shape& input_shape, const MaxWindows& windows);
/// The values of `x` at these indices.
Tensor max_pool2d_gather(const Tensor& x, const Tensor& indices, const MaxWindows& windows);
/// The sum of each window divided by the size of a whole window, wherever it lies.
Tensor avg_pool2d_whole(const Tensor& x, const Pool2dOptions& options);
/// The gradient of avg_pool2d_whole for an input of `input_shape`.
Tensor avg_pool2d_backward(const Tensor& g, const Shape& input_shape, const Pool2dOptions& options);

}  // namespace weft::adjoint

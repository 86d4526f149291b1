// Gradients of pooling, and what they need; called by rules. Tensors are (N, C, H, W).
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft::adjoint {

/// The gradient of max_pool2d from the indices of its maxima (the op's second result), for an input of `input_shape`.
Tensor max_pool2d_backward(const Tensor& g, const Tensor& indices, const Shape& input_shape,
                           const Pool2dOptions& options);
/// The values of `x` at these indices.
Tensor max_pool2d_gather(const Tensor& x, const Tensor& indices, const Pool2dOptions& options);
/// The sum of each window divided by the size of a whole window, wherever it lies.
Tensor avg_pool2d_whole(const Tensor& x, const Pool2dOptions& options);
/// The gradient of avg_pool2d_whole for an input of `input_shape`.
Tensor avg_pool2d_backward(const Tensor& g, const Shape& input_shape, const Pool2dOptions& options);

}  // namespace weft::adjoint

// Pooling to a given output size. Along an axis of input size in and output size out, window i covers
// [floor(i in / out), ceil((i + 1) in / out)). x is (N, C, L), (N, C, H, W) or (N, C, D, H, W); N may be absent.
// DtypeError unless x is floating. ShapeError for other ranks, for axes of size 0 and for output sizes below 1.
#pragma once

#include "tensor/core/conv_options.h"
#include "tensor/tensor.h"

namespace weft {

/// The mean of each window.
Tensor adaptive_avg_pool1d(const Tensor& x, const Size1& size);
Tensor adaptive_avg_pool2d(const Tensor& x, const Size2& size);
Tensor adaptive_avg_pool3d(const Tensor& x, const Size3& size);

/// The maximum of each window. NaN propagates. If several elements are equal to the maximum, the first gets the
/// gradient.
Tensor adaptive_max_pool1d(const Tensor& x, const Size1& size);
Tensor adaptive_max_pool2d(const Tensor& x, const Size2& size);
Tensor adaptive_max_pool3d(const Tensor& x, const Size3& size);

/// The maxima, and the position of each one (i64): its row-major index within the spatial axes of x, for example
/// row * width + column in 2-D.
ValuesAndIndices adaptive_max_pool1d_with_indices(const Tensor& x, const Size1& size);
ValuesAndIndices adaptive_max_pool2d_with_indices(const Tensor& x, const Size2& size);
ValuesAndIndices adaptive_max_pool3d_with_indices(const Tensor& x, const Size3& size);

}  // namespace weft

// 2-D pooling of x (N, C, H, W), or of an image (C, H, W). The result is in x's memory order where that is row-major,
// else channels-last. DtypeError unless x is floating; ShapeError where a window is larger than the padded image; Error
// for options out of range.
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft {

/// The maximum of each window; padding counts as -inf; NaN propagates; the first maximum of a window gets the gradient.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
/// The mean of each window. Padding counts as zeros that are divided by, unless count_include_pad is false.
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);

}  // namespace weft

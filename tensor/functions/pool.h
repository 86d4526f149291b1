// Pooling over one to three axes of x: (N, C, L), (N, C, H, W) or (N, C, D, H, W), or the same without N. The result is
// in x's memory order where that is row-major, else channels-last. DtypeError unless x is floating; ShapeError where a
// window is larger than the padded input; Error for options out of range.
//
// A size of the result is floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1, ceil in place of floor
// with ceil_mode.
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft {

/// The maximum of each window; padding counts as -inf; NaN propagates; the first maximum of a window gets the gradient.
Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options);
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
Tensor max_pool3d(const Tensor& x, const Pool3dOptions& options);

/// The maxima, and where in x each one is (i64): row * width + column of its plane, and so on for one and three axes.
ValuesAndIndices max_pool1d_with_indices(const Tensor& x, const Pool1dOptions& options);
ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const Pool2dOptions& options);
ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const Pool3dOptions& options);

/// The mean of each window. Padding counts as zeros that are divided by, unless count_include_pad is false; what
/// ceil_mode adds beyond the padding does not.
Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options);
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);
Tensor avg_pool3d(const Tensor& x, const Pool3dOptions& options);

/// (sum of x^p over each window)^(1/p), the largest |x| where p is infinite. Without padding and dilation. As in
/// PyTorch, a window that ceil_mode cuts counts what it has as often as a whole one would.
Tensor lp_pool1d(const Tensor& x, double p, const Pool1dOptions& options);
Tensor lp_pool2d(const Tensor& x, double p, const Pool2dOptions& options);
Tensor lp_pool3d(const Tensor& x, double p, const Pool3dOptions& options);

}  // namespace weft

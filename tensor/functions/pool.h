// Pooling over one to three spatial axes of x: (N, C, L), (N, C, H, W) or (N, C, D, H, W); N may be absent. The result
// is row-major if x is, else channels-last. DtypeError unless x is floating; ShapeError if a window is larger than the
// padded input; Error for options out of range.
//
// An output size is floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1. With ceil_mode, floor becomes
// ceil, but a window that would begin in the padding at the end is left out, as in PyTorch.
#pragma once

#include "tensor/core/pool_options.h"
#include "tensor/tensor.h"

namespace weft {

/// The maximum of each window. Padding counts as -infinity. NaN propagates. If elements tie, the first gets the
/// gradient.
Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options);
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
Tensor max_pool3d(const Tensor& x, const Pool3dOptions& options);

/// The maxima, and the position of each one (i64): its row-major index within the spatial axes of x, for example
/// row * width + column in 2-D.
ValuesAndIndices max_pool1d_with_indices(const Tensor& x, const Pool1dOptions& options);
ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const Pool2dOptions& options);
ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const Pool3dOptions& options);

/// The mean of each window. Padding counts as zeros and is part of the divisor unless count_include_pad is false. What
/// ceil_mode adds beyond the padding is never part of the divisor.
Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options);
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);
Tensor avg_pool3d(const Tensor& x, const Pool3dOptions& options);

/// (sum of x^p over each window)^(1/p); the largest |x| if p is infinite. If ceil_mode makes a window extend beyond the
/// input, the sum of its elements is scaled up to the full window, as in PyTorch. Error unless p > 0, and for padding,
/// dilation or divisor_override.
Tensor lp_pool1d(const Tensor& x, double p, const Pool1dOptions& options);
Tensor lp_pool2d(const Tensor& x, double p, const Pool2dOptions& options);
Tensor lp_pool3d(const Tensor& x, double p, const Pool3dOptions& options);
// As below: numbers in braces would be the first options.
template <std::integral T> Tensor lp_pool1d(const Tensor& x, double p, std::initializer_list<T> numbers) = delete;
template <std::integral T> Tensor lp_pool2d(const Tensor& x, double p, std::initializer_list<T> numbers) = delete;
template <std::integral T> Tensor lp_pool3d(const Tensor& x, double p, std::initializer_list<T> numbers) = delete;

/// The same for a window that is as large along every axis: max_pool2d(x, 3, 2). The default stride is the window.
/// Numbers in braces do not compile, as they would be the first options, not a window: write {.kernel_size = {3, 1}}.
#define WEFT_EVEN_POOL(Result, function, Options)                                                              \
  inline Result function(const Tensor& x, int64_t kernel_size, std::optional<int64_t> stride = std::nullopt) { \
    return function(x, Options{.kernel_size = kernel_size, .stride = stride.value_or(kernel_size)});           \
  }                                                                                                            \
  template <std::integral T>                                                                                   \
  Result function(const Tensor& x, std::initializer_list<T> numbers) = delete; /* {.kernel_size = {3, 1}} */
WEFT_EVEN_POOL(Tensor, max_pool1d, Pool1dOptions)
WEFT_EVEN_POOL(Tensor, max_pool2d, Pool2dOptions)
WEFT_EVEN_POOL(Tensor, max_pool3d, Pool3dOptions)
WEFT_EVEN_POOL(ValuesAndIndices, max_pool1d_with_indices, Pool1dOptions)
WEFT_EVEN_POOL(ValuesAndIndices, max_pool2d_with_indices, Pool2dOptions)
WEFT_EVEN_POOL(ValuesAndIndices, max_pool3d_with_indices, Pool3dOptions)
WEFT_EVEN_POOL(Tensor, avg_pool1d, Pool1dOptions)
WEFT_EVEN_POOL(Tensor, avg_pool2d, Pool2dOptions)
WEFT_EVEN_POOL(Tensor, avg_pool3d, Pool3dOptions)
#undef WEFT_EVEN_POOL

}  // namespace weft

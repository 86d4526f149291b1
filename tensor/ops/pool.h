// 2-D pooling.
#pragma once

#include "tensor/ops/conv.h"

namespace weft {

struct Pool2dOptions {
  Pair kernel_size = 0;
  std::optional<Pair> stride = std::nullopt;  // the kernel size where absent
  Pair padding = 0;
  Pair dilation = 1;  // max_pool2d only
};

/// The maximum of each window of x (N, C, H, W); padding counts as -inf; NaN propagates; the first maximum of a window
/// gets the gradient.
Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options);
/// The mean of each window; padding counts as zeros that are divided by (PyTorch's count_include_pad).
Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options);

}  // namespace weft

// The options of 2-D pooling: plain numbers, which the op's descriptor and its kernel read as they are.
#pragma once

#include <optional>

#include "tensor/core/conv_options.h"

namespace weft {

struct Pool2dOptions {
  Pair kernel_size = 0;
  std::optional<Pair> stride = std::nullopt;  // the kernel size where absent
  Pair padding = 0;
  Pair dilation = 1;              // max_pool2d only
  bool count_include_pad = true;  // avg_pool2d only: whether padding counts in what a mean divides by
  /// The distance of two windows: the stride, or what stands for it.
  constexpr Pair step() const { return stride.value_or(kernel_size); }
  bool operator==(const Pool2dOptions&) const = default;
};

}  // namespace weft

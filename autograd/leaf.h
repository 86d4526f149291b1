// Leaves: tensors that collect a gradient.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// A leaf that collects a gradient, over the same data as `value` (its history, where it has one, is left behind).
/// DtypeError unless `value` is floating.
Tensor parameter(const Tensor& value);

}  // namespace weft

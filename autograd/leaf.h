// Leaves: tensors that accumulate a gradient.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// A leaf that requires a gradient and shares the memory of `value`, without its history. DtypeError unless `value` is
/// floating.
Tensor parameter(const Tensor& value);

}  // namespace weft

// fill: what constructors and copies share.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/core/scalar.h"

namespace weft::kernels::cpu {

/// Every element is `value`, converted as `scalar_as` does; any strides.
void fill(const Operand& out, const Scalar& value);

}  // namespace weft::kernels::cpu

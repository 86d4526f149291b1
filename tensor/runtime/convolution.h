// A switch for programs that need the rounding of plain sums of products in all their convolutions.
#pragma once

#include "tensor/core/conv_options.h"

namespace weft {

/// Convolution::direct makes all later convolutions and their gradients, on every thread, use the direct algorithm,
/// whatever their options say. The default is Convolution::fastest.
void set_convolution(Convolution algorithm);
Convolution convolution();

}  // namespace weft

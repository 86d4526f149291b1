// A switch for programs that need the rounding of plain sums of products in all their convolutions.
#pragma once

#include "tensor/core/conv_options.h"

namespace weft {

/// With Convolution::direct, convolutions of all threads and their gradients are computed so from now on, whatever
/// their options say. The default is Convolution::fastest.
void set_convolution(Convolution algorithm);
Convolution convolution();

}  // namespace weft

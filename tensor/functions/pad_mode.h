// Padding with a constant or with elements of the tensor itself (see PadMode).
#pragma once

#include <vector>

#include "tensor/core/conv_options.h"
#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// `x` with widths[i] = {before, after} entries added on axis i; there is one pair per axis. A negative width crops. In
/// mode circular x is cropped first and then padded; in the other modes it is padded first. `value` is used in mode
/// constant. Padding with the constant 0 gives a view (as pad(x, widths)), everything else a copy. ShapeError if an
/// axis is too short: a reflect width must be less than the size, a circular width at most the size, and replicate
/// needs at least one entry.
Tensor pad(const Tensor& x, const std::vector<Padding>& widths, PadMode mode, const Scalar& value = 0);

}  // namespace weft

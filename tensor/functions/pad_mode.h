// Padding with values: what lies outside is a constant, or comes from the tensor itself (PadMode).
#pragma once

#include <vector>

#include "tensor/core/conv_options.h"
#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// `x` with widths[i] = {before, after} more entries on axis i; negative widths cut entries off (in a circle before the
/// others are filled, else behind that). One pair per axis.
/// `value` is for `constant`; zeros alone are a view (as of pad(x, widths)), everything else is a copy. ShapeError
/// where the axis is too short: reflect takes less than its size, circular at most its size, replicate at least one
/// entry.
Tensor pad(const Tensor& x, const std::vector<Padding>& widths, PadMode mode, const Scalar& value = 0);

}  // namespace weft

// Copies: clone, contiguous, casts, other devices. Also detach.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// A copy of `x` in its memory order (row-major unless dense), with history; padding reads as zero.
Tensor clone(const Tensor& x);
/// `x` where it is row-major, else a row-major copy, with history.
Tensor contiguous(const Tensor& x);
/// `x` with dtype `dtype`; itself where it has it. Floating to integer truncates, NaN gives 0, what does not fit is
/// clamped; to bool is `x != 0`. The gradient is cast back; a cast to an integer type cuts it.
Tensor cast(const Tensor& x, DType dtype);
/// `x` where it is on `device`, else a copy there in its memory order (row-major unless dense), with history: the
/// gradient is copied back. DeviceError where there is no such device.
Tensor to(const Tensor& x, Device device);
/// The data of `x` (no copy) without history.
Tensor detach(const Tensor& x);

}  // namespace weft

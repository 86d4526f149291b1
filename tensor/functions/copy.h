// Copies: clone, contiguous, casts, other devices. Also detach.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// A copy of `x`, with history. It keeps x's memory order if x is dense, else it is row-major. The padding of a masked
/// view is copied as zeros.
Tensor clone(const Tensor& x);
/// `x` itself if it is row-major, else a row-major copy with history.
Tensor contiguous(const Tensor& x);
/// Converts `x` to `dtype`; returns x itself if it has that dtype. From floating to integer: values are truncated, NaN
/// becomes 0, and values out of range are clamped. From integer to integer: values out of range keep their low bits, so
/// that 300 is 44 in u8. To bool: x != 0. The gradient is cast back to x's dtype; a cast to an integer dtype or bool
/// has no gradient.
Tensor cast(const Tensor& x, DType dtype);
/// `x` itself if it is on `device`, else a copy on that device with history: the gradient is copied back. The copy
/// keeps x's memory order if x is dense, else it is row-major. DeviceError if there is no such device.
Tensor to(const Tensor& x, Device device);
/// A tensor that shares the memory of `x` and has no history.
Tensor detach(const Tensor& x);

}  // namespace weft

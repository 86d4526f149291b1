// Shared by ops with windows: checks of options, the size of a result, and the channels-last memory order.
#pragma once

#include "tensor/core/error.h"
#include "tensor/core/view.h"

namespace weft {

/// The shapes that an input with `axes` spatial axes (1 to 3) may have, for errors.
inline const char* spatial_shapes(int64_t axes) {
  return axes == 1   ? "(N, C, L) or (C, L)"
         : axes == 2 ? "(N, C, H, W) or (C, H, W)"
                     : "(N, C, D, H, W) or (C, D, H, W)";
}

/// ShapeError unless a tensor of shape `x` is a batch with `axes` spatial axes, or one element of a batch.
inline void check_spatial(const Shape& x, int64_t axes) {
  if (x.rank() != axes + 1 && x.rank() != axes + 2)
    throw ShapeError(text("x must be ", spatial_shapes(axes), ", not ", x));
}

/// Error unless the options of a window along one axis are 1 or more.
inline void check_window(int64_t kernel, int64_t stride, int64_t dilation = 1) {
  if (kernel < 1) throw Error(text("kernel size ", kernel, " must be 1 or more"));
  if (stride < 1) throw Error(text("stride ", stride, " must be 1 or more"));
  if (dilation < 1) throw Error(text("dilation ", dilation, " must be 1 or more"));
}

/// The error of a window that is larger than its padded axis.
[[noreturn]] inline void throw_window_too_large(int64_t kernel, int64_t dilation, int64_t size, int64_t padding) {
  const int64_t span = dilation * (kernel - 1) + 1;
  throw ShapeError(
      text("the window of ", kernel, dilation > 1 ? text(", dilated by ", dilation, " to ", span, ",") : "",
           " is larger than its axis of ", size, padding > 0 ? text(" with its padding of ", padding) : ""));
}

/// The size of an output axis: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; 0 if the window does
/// not fit. ShapeError on overflow.
inline int64_t conv_output_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t window = checked_add(checked_multiply(dilation, kernel - 1), 1);
  const int64_t room = checked_add(checked_add(size, checked_multiply(2, padding)), -window);
  return room < 0 ? 0 : room / stride + 1;
}

/// The same for pools. With `ceil`, a window that begins inside of the input or the padding before it counts even if it
/// extends beyond the padded input.
inline int64_t pool_output_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                                bool ceil) {
  if (!ceil) return conv_output_size(size, kernel, stride, padding, dilation);
  const int64_t windows = conv_output_size(checked_add(size, stride - 1), kernel, stride, padding, dilation);
  return windows > 0 && (windows - 1) * stride >= checked_add(size, padding) ? windows - 1 : windows;
}

/// A half-open range of positions along an axis.
struct AxisRange {
  int64_t begin, end;
};
/// Windows that share an axis of `inputs` pixels among `outputs` windows (adaptive pools): the pixels of window i are
/// shared_range(i, outputs, inputs). The windows that hold pixel i are shared_range(i, inputs, outputs).
inline AxisRange shared_range(int64_t i, int64_t from, int64_t to) {
  return {static_cast<int64_t>(static_cast<__int128>(i) * to / from),
          static_cast<int64_t>((static_cast<__int128>(i + 1) * to + from - 1) / from)};
}

/// Channels-last strides under a logical (N, C, ...) shape. ShapeError on overflow.
inline Strides channels_last_strides(const Shape& s) {
  Strides strides = IntList::filled(s.size(), 1);
  int64_t step = s[1];
  for (size_t i = s.size(); i-- > 2;) {
    strides[i] = step;
    step = checked_multiply(step, s[i]);
  }
  strides[0] = step;
  return strides;
}
inline View channels_last_view(const Shape& shape) { return View::create(shape, channels_last_strides(shape)); }

}  // namespace weft

// What convolutions and pools share: the size of a result, and the memory order they work in.
#pragma once

#include "tensor/core/view.h"

namespace weft {

/// The size of an output axis: floor((size + 2 padding - dilation (kernel - 1) - 1) / stride) + 1; 0 where the window
/// does not fit. ShapeError on overflow.
inline int64_t conv_output_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t window = checked_add(checked_multiply(dilation, kernel - 1), 1);
  const int64_t room = checked_add(checked_add(size, checked_multiply(2, padding)), -window);
  return room < 0 ? 0 : room / stride + 1;
}

/// Channels-last strides under a logical (N, C, H, W) shape. ShapeError on overflow.
inline Strides channels_last_strides(const Shape& s) {
  const int64_t line = checked_multiply(s[1], s[3]);
  return {checked_multiply(line, s[2]), 1, line, s[1]};
}
inline View channels_last_view(const Shape& shape) { return View::create(shape, channels_last_strides(shape)); }

}  // namespace weft

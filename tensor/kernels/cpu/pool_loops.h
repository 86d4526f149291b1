// What the pools share: the pieces their loops run over, and which windows hold a pixel.
#pragma once

#include <limits>
#include <type_traits>

#include "tensor/error.h"
#include "tensor/kernels/cpu/operand.h"
#include "tensor/kernels/cpu/parallel.h"
#include "tensor/kernels/cpu/pool.h"

namespace weft::kernels::cpu {

/// Channels whose results stay in registers or the innermost cache while the taps of a window pass.
inline constexpr int64_t kPoolBlock = 64;

/// What pools compute in.
template <class S>
using PoolCompute = std::conditional_t<std::is_same_v<S, double>, double, float>;

/// Half-open range.
struct Range {
  int64_t begin, end;
};

/// The taps of window `at` that lie inside an axis of `size`.
inline Range taps_inside(int64_t at, int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t first = at * stride - padding;
  const int64_t begin = first >= 0 ? 0 : (-first + dilation - 1) / dilation;
  const int64_t end = first >= size ? 0 : (size - first + dilation - 1) / dilation;
  return {std::min(begin, kernel), std::max(std::min(begin, kernel), std::min(end, kernel))};
}

/// Calls f(window, tap) for the windows of an axis that hold pixel `at`.
template <class F>
void for_each_window(int64_t at, int64_t windows, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, F&& f) {
  for (int64_t tap = 0; tap < kernel; ++tap) {
    const int64_t start = at + padding - tap * dilation;
    if (start >= 0 && start % stride == 0 && start / stride < windows) f(start / stride, tap);
  }
}

/// Calls f(n, h, w, first channel, channels) for blocks of channels of every pixel of `shape`, in parallel over lines.
template <class F>
void for_each_block(const Shape& shape, int64_t work_per_element, F&& f) {
  const int64_t height = shape[2], width = shape[3], channels = shape[1];
  const int64_t line = std::max<int64_t>(1, width * channels * work_per_element);
  parallel_for(shape[0] * height, std::max<int64_t>(1, 32768 / line), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t w = 0; w < width; ++w)
        for (int64_t c = 0; c < channels; c += kPoolBlock)
          f(i / height, i % height, w, c, std::min(kPoolBlock, channels - c));
  });
}

/// The memory of channel c of pixel (n, h, w), and the step from channel to channel.
template <class S>
S* pixel(const Operand& x, int64_t n, int64_t c, int64_t h, int64_t w) {
  return x.data<S>() + n * x.stride(0) + c * x.stride(1) + h * x.stride(2) + w * x.stride(3);
}

/// Calls f.operator()<S, Unit>() with the floating element type; Unit says whether channels are neighbours everywhere.
template <class F>
void visit_pool(DType dtype, bool neighbours, F&& f) {
  if (!is_floating(dtype)) throw DtypeError(text("pools accept f32, f64, bf16 and f16, not ", dtype));
  visit_dtype(dtype, [&]<class S>() {
    if constexpr (!std::is_integral_v<S>) {
      if (neighbours)
        f.template operator()<S, true>();
      else
        f.template operator()<S, false>();
    }
  });
}

/// True where a block of channels is contiguous.
inline bool channels_are_neighbours(const Operand& x) { return x.stride(1) == 1 || x.size(1) == 1; }

}  // namespace weft::kernels::cpu

// What the pools share: which pixels a window holds, which windows hold a pixel, and channels as vectors.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "tensor/core/error.h"
#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/window/pool.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// What pools compute in.
template <class S>
using PoolCompute = std::conditional_t<std::is_same_v<S, double>, double, float>;

/// A place that one element of a window connects: where it lies on the other side's axis, and which element it is.
struct Link {
  int64_t at, tap;
};

/// The links of every position of an axis, in the order of taps.
class Links {
 public:
  /// Calls from outputs to inputs: the elements of each window that lie inside of the axis.
  static Links of_windows(const PoolParams& p, int axis, int64_t inputs, int64_t outputs) {
    return Links(p, axis, outputs, [&](int64_t window, int64_t tap) {
      const int64_t at = window * p.stride[axis] - p.padding[axis] + tap * p.dilation[axis];
      return at >= 0 && at < inputs ? at : -1;
    });
  }
  /// From inputs to outputs: the windows that hold each pixel.
  static Links of_pixels(const PoolParams& p, int axis, int64_t inputs, int64_t outputs) {
    return Links(p, axis, inputs, [&](int64_t pixel, int64_t tap) {
      const int64_t start = pixel + p.padding[axis] - tap * p.dilation[axis];
      return start >= 0 && start % p.stride[axis] == 0 && start / p.stride[axis] < outputs ? start / p.stride[axis]
                                                                                           : -1;
    });
  }
  const Link* begin(int64_t position) const { return links_.data() + first_[static_cast<size_t>(position)]; }
  const Link* end(int64_t position) const { return links_.data() + first_[static_cast<size_t>(position) + 1]; }

 private:
  template <class F>
  Links(const PoolParams& p, int axis, int64_t positions, F&& other_side) {
    for (int64_t i = 0; i < positions; ++i) {
      first_.push_back(links_.size());
      for (int64_t tap = 0; tap < p.kernel[axis]; ++tap)
        if (const int64_t at = other_side(i, tap); at >= 0) links_.push_back({at, tap});
    }
    first_.push_back(links_.size());
  }
  std::vector<Link> links_;
  std::vector<size_t> first_;
};

/// Whether every pixel of an axis lies in exactly one window.
inline bool windows_tile(const PoolParams& p, int axis, int64_t inputs, int64_t outputs) {
  return p.stride[axis] == p.kernel[axis] && p.padding[axis] == 0 && p.dilation[axis] == 1 &&
         inputs == outputs * p.kernel[axis];
}

/// One image of an operand: element (h, w, c) lies at data[h * line + w * column + c * channel]. A value of plain numbers,
/// so that loops keep it in registers.
template <class S>
struct Image {
  S* data;
  int64_t line, column, channel;

  Image(const Operand& x, int64_t n)
      : data(x.data<S>() + n * x.stride(0)),
        line(x.stride(2)),
        column(x.stride(3)),
        channel(x.size(1) == 1 ? 1 : x.stride(1)) {}
  S* at(int64_t h, int64_t w) const { return data + h * line + w * column; }
};

/// The first `count` of N channels, `step` apart, as C. kFull: count is N and step is 1.
template <bool kFull, class C, int N, class S>
inline simd::Vec<C, N> load_channels(const S* p, int64_t step, int count) {
  if constexpr (kFull) return simd::load<C, N>(p);
  if (step == 1) return simd::load_part<C, N>(p, count);
  return simd::load_strided<C, N>(p, step, count);
}
template <bool kFull, class C, int N, class S>
inline void store_channels(S* p, int64_t step, simd::Vec<C, N> v, int count) {
  if constexpr (kFull) return simd::store<C, N>(p, v);
  if (step == 1) return simd::store_part<C, N>(p, v, count);
  S part[N];
  simd::store<C, N>(part, v);
  for (int i = 0; i < count; ++i) p[i * step] = part[i];
}

/// Calls f(n, h) for every line of (N, C, H, W) `shape`, in parallel.
template <class F>
void for_each_line(const Shape& shape, int64_t taps, F&& f) {
  const int64_t height = shape[2], line = std::max<int64_t>(1, shape[3] * shape[1] * taps);
  parallel_for(shape[0] * height, std::max<int64_t>(1, 32768 / line), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / height, i % height);
  });
}

/// Calls f.operator()<kFull>(first channel, how many) for vectors of N channels; kFull where all N are there and neighbours.
template <int N, class F>
inline void for_each_vector(int64_t channels, bool neighbours, F&& f) {
  int64_t c = 0;
  if (neighbours)
    for (; c + N <= channels; c += N) f.template operator()<true>(c, N);
  for (; c < channels; c += N) f.template operator()<false>(c, static_cast<int>(std::min<int64_t>(N, channels - c)));
}

/// Calls f.operator()<A, B>() with the numbers of linked lines and columns where they are common ones, so that loops over
/// them unroll; <0, 0> where they are not.
template <class F>
inline void with_counts(int64_t lines, int64_t columns, F&& f) {
  if (lines != columns) return f.template operator()<0, 0>();
  if (lines == 1) return f.template operator()<1, 1>();
  if (lines == 2) return f.template operator()<2, 2>();
  if (lines == 3) return f.template operator()<3, 3>();
  f.template operator()<0, 0>();
}

/// Calls f.operator()<S>() with the floating element type.
template <class F>
void visit_pool(DType dtype, F&& f) {
  if (!is_floating(dtype)) throw DtypeError(text("pools accept f32, f64, bf16 and f16, not ", dtype));
  visit_dtype(dtype, [&]<class S>() {
    if constexpr (!std::is_integral_v<S>) f.template operator()<S>();
  });
}

}  // namespace weft::kernels::cpu

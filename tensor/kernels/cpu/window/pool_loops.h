// What the pools share: which pixels a window holds, which windows hold a pixel, and channels as vectors. weft's own
// loops: oneDNN's lose NaN and -inf.
//
// Tensors are (N, C, H, W), any strides. Fast where channels are neighbours (channels-last); results have the same bits
// at any thread count.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/ops/pool.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// What pools compute in.
template <class S>
using PoolCompute = std::conditional_t<std::is_same_v<S, double>, double, float>;

/// A place that one element of a window connects: where it lies on the other side's axis, and which element it is.
struct Link {
  int64_t at, tap;
};

/// The links of every position of an axis, in the order of taps. Windows may be larger than the image by far: only taps
/// that can lie inside of it are looked at.
class Links {
 public:
  /// From outputs to inputs: the elements of each window that lie inside of the axis.
  static Links of_windows(const Pool2dOptions& o, int axis, int64_t inputs, int64_t outputs) {
    const int64_t stride = o.step()[axis], padding = o.padding[axis], dilation = o.dilation[axis];
    Links links;
    for (int64_t window = 0; window < outputs; ++window) {
      links.begin_position();
      const int64_t start = window * stride - padding, first = start >= 0 ? 0 : (-start - 1) / dilation + 1;
      for (int64_t tap = first; tap < o.kernel_size[axis]; ++tap) {
        const int64_t at = start + tap * dilation;
        if (at >= inputs) break;
        links.links_.push_back({at, tap});
      }
    }
    links.begin_position();
    return links;
  }
  /// From inputs to outputs: the windows that hold each pixel.
  static Links of_pixels(const Pool2dOptions& o, int axis, int64_t inputs, int64_t outputs) {
    const int64_t stride = o.step()[axis], dilation = o.dilation[axis], end = outputs * stride;
    Links links;
    for (int64_t pixel = 0; pixel < inputs; ++pixel) {
      links.begin_position();
      const int64_t last = pixel + o.padding[axis], first = last < end ? 0 : (last - end) / dilation + 1;
      for (int64_t tap = first; tap < o.kernel_size[axis]; ++tap) {
        const int64_t start = last - tap * dilation;
        if (start < 0) break;
        if (start % stride == 0) links.links_.push_back({start / stride, tap});
      }
    }
    links.begin_position();
    return links;
  }
  const Link* begin(int64_t position) const { return links_.data() + first_[static_cast<size_t>(position)]; }
  const Link* end(int64_t position) const { return links_.data() + first_[static_cast<size_t>(position) + 1]; }

 private:
  void begin_position() { first_.push_back(links_.size()); }
  std::vector<Link> links_;
  std::vector<size_t> first_;
};

/// One image of an operand: element (h, w, c) lies at data[h * line + w * column + c * channel]. A value of plain
/// numbers, so that loops keep it in registers.
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
  constexpr int64_t kWork = 32768;  // of one piece
  const int64_t height = shape[2], line = std::max<int64_t>(1, shape[3] * shape[1] * std::min(taps, kWork));
  parallel_for(shape[0] * height, std::max<int64_t>(1, kWork / line), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / height, i % height);
  });
}

/// Calls f.operator()<kFull>(first channel, how many) for vectors of N channels; kFull where all N are there and
/// neighbours.
template <int N, class F>
inline void for_each_vector(int64_t channels, bool neighbours, F&& f) {
  int64_t c = 0;
  if (neighbours)
    for (; c + N <= channels; c += N) f.template operator()<true>(c, N);
  for (; c < channels; c += N) f.template operator()<false>(c, static_cast<int>(std::min<int64_t>(N, channels - c)));
}

/// Calls f.operator()<A, B>() with the numbers of linked lines and columns where they are common ones, so that loops
/// over them unroll; <0, 0> where they are not.
template <class F>
inline void with_counts(int64_t lines, int64_t columns, F&& f) {
  if (lines != columns) return f.template operator()<0, 0>();
  if (lines == 1) return f.template operator()<1, 1>();
  if (lines == 2) return f.template operator()<2, 2>();
  if (lines == 3) return f.template operator()<3, 3>();
  f.template operator()<0, 0>();
}

}  // namespace weft::kernels::cpu

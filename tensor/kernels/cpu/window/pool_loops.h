// What the pools share: which pixels a window holds, which windows hold a pixel, and channels as vectors. weft's own
// loops: oneDNN's lose NaN and -inf.
//
// Tensors are (N, C, H, W), any strides. Fast where channels are contiguous (channels-last); results have the same bits
// at any thread count.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/matrix.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/window/links.h"
#include "tensor/ops/pool.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

/// Indices are compared as integers as wide as the values, so that one mask serves both.
template <class C> using IndexLane = std::conditional_t<std::is_same_v<C, double>, int64_t, int32_t>;

/// The lanes of a register of what values of a floating dtype are computed in.
inline int64_t compute_lanes(DType dtype) { return dtype == DType::f64 ? simd::kLanes<double> : simd::kLanes<float>; }

/// Stands for a window that is all padding.
template <class Index> constexpr Index kNoIndex = std::numeric_limits<Index>::max();

/// The windows of a pool along an axis (0: height, 1: width).
inline AxisWindows windows_of(const Pool2dOptions& o, int axis) {
  return {o.kernel_size[axis], o.step()[axis], o.padding[axis], o.dilation[axis]};
}

/// One image of an operand: element (h, w, c) lies at data[h * row + w * column + c * channel]. A value of plain
/// numbers, so that loops keep it in registers.
template <class S> struct Image {
  S* data;
  int64_t row, column, channel;

  Image() = default;
  Image(const Operand& x, int64_t n)
      : data(x.data<S>() + n * x.stride(0)),
        row(x.stride(2)),
        column(x.stride(3)),
        channel(x.size(1) == 1 ? 1 : x.stride(1)) {}
  /// A dense channels-last one.
  Image(S* memory, int64_t width, int64_t channels)
      : data(memory), row(width * channels), column(channels), channel(1) {}
  S* at(int64_t h, int64_t w) const { return data + h * row + w * column; }
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

/// Calls f.operator()<kFull>(first channel, how many) for vectors of N channels; kFull where there are N, all
/// contiguous.
template <int N, class F> inline void for_each_vector(int64_t channels, bool neighbors, F&& f) {
  int64_t c = 0;
  if (neighbors)
    for (; c + N <= channels; c += N) f.template operator()<true>(c, N);
  for (; c < channels; c += N) f.template operator()<false>(c, static_cast<int>(std::min<int64_t>(N, channels - c)));
}

/// Reads `count` elements that lie `step` apart as C, or writes them.
template <class C, class S> [[gnu::noinline]] void read_row(const S* from, int64_t step, int64_t count, C* to) {
  if (step == 1) return copy_run(from, to, count);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<C>(from[i * step]);
}
template <class C, class S> [[gnu::noinline]] void write_row(const C* from, int64_t count, S* to, int64_t step) {
  constexpr int N = simd::kLanes<C>;
  int64_t i = 0;
  // g++ 12 does not round f16 in registers by itself.
  for (; count >= N && i < count && (step == 1 || std::is_same_v<S, Float16>); i += N) {
    const int64_t at = std::min(i, count - N);  // the last register ends with the row
    const auto part = simd::load<C, N>(from + at);
    step == 1 ? simd::store<C, N>(to + at, part) : store_channels<false, C, N>(to + at * step, step, part, N);
  }
  for (; i < count; ++i) to[i * step] = static_cast<S>(from[i]);
}

namespace detail {
/// Lanes 0, 2, .. of a, and 1, 3, .. of b.
template <class V, int... I> WEFT_SIMD V alternate_lanes(V a, V b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (2 * I < static_cast<int>(sizeof...(I)) ? 2 * I : 2 * I + 1)...);
}
}  // namespace detail

/// The first `count` of N elements that lie kStride apart, or `stride` where kStride is 0. All N, and what lies between
/// them, are read where it is 1 or 2.
template <int kStride, class C, int N, class S>
WEFT_SIMD simd::Vec<C, N> load_apart(const S* p, int64_t stride, int count) {
  if constexpr (kStride == 1) return simd::load<C, N>(p);
  if constexpr (kStride == 2)
    return detail::alternate_lanes(simd::load<C, N>(p), simd::load<C, N>(p + N - 1),
                                   std::make_integer_sequence<int, N>{});
  return count == N ? simd::load_strided<C, N>(p, stride) : simd::load_strided<C, N>(p, stride, count);
}

/// Calls f(n, h) for every row of (N, C, H, W) `shape`, in parallel.
template <class F> void for_each_row(const Shape& shape, int64_t taps, F&& f) {
  constexpr int64_t kWork = 32768;  // of one piece
  const int64_t height = shape[2], row = std::max<int64_t>(1, shape[3] * shape[1] * std::min(taps, kWork));
  parallel_for(shape[0] * height, std::max<int64_t>(1, kWork / row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i / height, i % height);
  });
}

/// Calls f.operator()<A, B>() with the numbers of linked rows and columns where they are common ones, so that loops
/// over them unroll; <0, 0> where they are not.
template <class F> inline void with_counts(int64_t rows, int64_t columns, F&& f) {
  if (rows != columns) return f.template operator()<0, 0>();
  if (rows == 1) return f.template operator()<1, 1>();
  if (rows == 2) return f.template operator()<2, 2>();
  if (rows == 3) return f.template operator()<3, 3>();
  f.template operator()<0, 0>();
}

/// Calls f.operator()<A, B, kFull>(first channel, how many) for vectors of N contiguous channels; A and B as in
/// with_counts(), 0 for a vector that is not full.
template <int N, class F> inline void for_each_counted_vector(int64_t rows, int64_t columns, int64_t channels, F&& f) {
  const int64_t full = channels / N * N;
  if (full > 0)
    with_counts(rows, columns, [=]<int A, int B>() {
      for (int64_t c = 0; c < full; c += N) f.template operator()<A, B, true>(c, N);
    });
  if (full < channels) f.template operator()<0, 0, false>(full, static_cast<int>(channels - full));
}

/// Channels that leave most of a register empty.
inline constexpr int64_t kFewChannels = 8;

/// Whether to copy images to channels-last first: their channels are not adjacent and fill a register. Bands of rows
/// then stay in the L2 cache on their way there and back.
inline bool should_copy_to_channels_last(const Operand& x) { return x.stride(1) != 1 && x.size(1) >= kFewChannels; }

struct RowRange {
  int64_t begin, end;
};
/// The rows that those of a band are linked with, and what lies between.
inline RowRange linked_rows(const Links& links, const RowRange& band) {
  RowRange found{std::numeric_limits<int64_t>::max(), 0};
  for (int64_t h = band.begin; h < band.end; ++h)
    for (const Link* link = links.begin(h); link != links.end(h); ++link)
      found = {std::min(found.begin, link->at), std::max(found.end, link->at + 1)};
  return found.begin < found.end ? found : RowRange{0, 0};
}

/// Whether images divide evenly, or nearly so, among the threads: then each is one thread's from begin to end.
inline bool divides_by_images(int64_t images) {
  const int64_t threads = region_threads();
  return images % threads == 0 || images >= 4 * threads;
}

/// f(n, band) for bands of rows of the images of `to`, in parallel: as many as threads want, and as the L2 cache
/// does. `bytes`: of an image on the larger side.
template <class F> void for_each_band(const Operand& to, int64_t bytes, const F& f) {
  constexpr int64_t kBand = 512 << 10, kLeastRows = 8;
  const int64_t images = to.size(0), height = to.size(2);
  const int64_t wanted = std::max(bytes / kBand, divides_by_images(images) ? 1 : int64_t{region_threads()});
  const int64_t bands = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(1, height / kLeastRows));
  parallel_for(images * bands, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t band = i % bands;
      f(i / bands, RowRange{band * height / bands, (band + 1) * height / bands});
    }
  });
}

/// f.operator()<S>() with a type as large as the elements, for loops that only move bits; a floating one where there is
/// one, as registers turn those, and as their writes cannot change the integers of a loop.
template <class F> void visit_word(DType dtype, const F& f) {
  switch (size_of(dtype)) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<float>();
    default: return f.template operator()<double>();
  }
}

/// Rows of an image in memory of their own, channels-last, under their numbers in the image.
class ChannelsLastRows {
 public:
  ChannelsLastRows(const Operand& image, const RowRange& rows)
      : rows_(rows),
        width_(image.size(3)),
        channels_(image.size(1)),
        memory_(checked_bytes((rows.end - rows.begin) * width_ * channels_, size_of(image.dtype))) {}
  template <class S> Image<S> as() const {
    return {reinterpret_cast<S*>(memory_.data()) - rows_.begin * width_ * channels_, width_, channels_};
  }
  /// Copies the rows from, or to, image n.
  void read(const Operand& images, int64_t n) const {
    visit_word(images.dtype, [&]<class S>() { turn(Image<S>(images, n), as<S>()); });
  }
  void write(const Operand& images, int64_t n) const {
    visit_word(images.dtype, [&]<class S>() { turn(as<S>(), Image<S>(images, n)); });
  }

 private:
  template <class S> void turn(const Image<S>& from, const Image<S>& to) const {
    if (memory_.data() == nullptr) return;
    const bool whole = from.row == width_ * from.column && to.row == width_ * to.column;
    const int64_t rows = rows_.end - rows_.begin, pixels = whole ? rows * width_ : width_;
    for (int64_t h = rows_.begin; h < (whole ? rows_.begin + 1 : rows_.end); ++h)
      copy_matrix_serial<S, S>({from.at(h, 0), pixels, channels_, from.column, from.channel},
                               {to.at(h, 0), pixels, channels_, to.column, to.channel});
  }

  RowRange rows_;
  int64_t width_, channels_;
  Scratch<std::byte> memory_;
};

/// Bytes of an image.
inline int64_t image_bytes(const Operand& x) {
  return x.size(1) * x.size(2) * x.size(3) * static_cast<int64_t>(size_of(x.dtype));
}

}  // namespace weft::kernels::cpu

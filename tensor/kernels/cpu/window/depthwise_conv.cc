#include "tensor/kernels/cpu/window/depthwise_conv.h"

#include <algorithm>
#include <vector>

#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/window/links.h"

namespace weft::kernels::cpu {
namespace {

AxisWindows windows_of(const ConvShape& s, int axis) {
  return {s.kernel[axis], s.stride[axis], s.padding[axis], s.dilation[axis]};
}

/// Calls f(tap, the weight's element of channel 0) for each element of the window.
template <class F> void for_each_tap(const ConvShape& s, const WeightStrides& strides, F&& f) {
  int64_t tap = 0;
  for (int64_t a = 0; a < s.kernel[0]; ++a)
    for (int64_t b = 0; b < s.kernel[1]; ++b)
      for (int64_t c = 0; c < s.kernel[2]; ++c, ++tap) f(tap, a * strides[2] + b * strides[3] + c * strides[4]);
}

/// The weight as (taps, channels).
template <class T> void pack(const ConvShape& s, const T* weight, const WeightStrides& strides, T* packed) {
  for_each_tap(s, strides, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < s.channels; ++c) packed[tap * s.channels + c] = weight[at + c * strides[0]];
  });
}

/// What one pixel of the result reads along the columns, and how it differs from what the pixels after it read.
struct Column {
  const Link *begin, *end;
  int64_t alike;  // pixels from this one on with the same taps, `step` apart
  int64_t step;
};

std::vector<Column> columns_of(const Links& links, int64_t width) {
  std::vector<Column> columns(static_cast<size_t>(width));
  for (int64_t w = width; w-- > 0;) {
    Column& here = columns[static_cast<size_t>(w)];
    here = {links.begin(w), links.end(w), 1, 0};
    if (w + 1 == width || here.begin == here.end) continue;
    const Column& next = columns[static_cast<size_t>(w) + 1];
    const int64_t step = next.begin == next.end ? 0 : next.begin->at - here.begin->at;
    const bool same = std::equal(here.begin, here.end, next.begin, next.end,
                                 [&](const Link& a, const Link& b) { return a.tap == b.tap && b.at - a.at == step; });
    if (same && (next.alike == 1 || next.step == step)) here.alike = next.alike + 1, here.step = step;
  }
  return columns;
}

/// Both directions: to(pixel) = start + the sum over the pixel's links of weight(taps) from(links), channel by channel.
template <class T> struct LinkedSums {
  static constexpr int N = simd::kLanes<T>;
  using V = simd::Vec<T, N>;
  const T* from;
  Triple from_size;
  const T* weight;  // (taps, channels)
  Triple kernel;
  const T* start;  // per channel, or null
  T* to;
  Triple to_size;
  int64_t batch, channels;
  Links depths, lines;
  std::vector<Column> columns;

  void run() const {
    const int64_t taps = kernel[0] * kernel[1] * kernel[2], line = to_size[2] * channels * std::min<int64_t>(taps, 64);
    parallel_for(batch * to_size[0] * to_size[1], std::max<int64_t>(1, 32768 / line), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t w = 0;
        while (w < to_size[2])
          if (columns[static_cast<size_t>(w)].alike >= 4)
            pixels<4>(i, w), w += 4;
          else
            pixels<1>(i, w), w += 1;
      }
    });
  }
  /// P neighbouring pixels of a line, which read alike.
  template <int P> void pixels(int64_t line, int64_t w) const {
    int64_t c = 0;
    for (; c + N <= channels; c += N) vector<P>(line, w, c, N);
    if (c < channels) vector<P>(line, w, c, static_cast<int>(channels - c));
  }
  template <int P> void vector(int64_t line, int64_t w, int64_t c, int count) const {
    const int64_t n = line / (to_size[0] * to_size[1]), d = line / to_size[1] % to_size[0], h = line % to_size[1];
    const Column& column = columns[static_cast<size_t>(w)];
    const int64_t step = column.step * channels;
    const auto load = [&](const T* p) { return count == N ? simd::load<T, N>(p) : simd::load_part<T, N>(p, count); };
    V sums[P];
    for (V& sum : sums) sum = start != nullptr ? load(start + c) : V{};
    for (const Link* a = depths.begin(d); a != depths.end(d); ++a)
      for (const Link* b = lines.begin(h); b != lines.end(h); ++b) {
        const T* row = from + ((n * from_size[0] + a->at) * from_size[1] + b->at) * from_size[2] * channels + c;
        const T* taps = weight + (a->tap * kernel[1] + b->tap) * kernel[2] * channels + c;
        for (const Link* k = column.begin; k != column.end; ++k) {
          const V factor = load(taps + k->tap * channels);
          const T* at = row + k->at * channels;
          for (int p = 0; p < P; ++p) sums[p] += factor * load(at + p * step);
        }
      }
    T* out = to + (line * to_size[2] + w) * channels + c;
    for (int p = 0; p < P; ++p)
      if (count == N)
        simd::store<T, N>(out + p * channels, sums[p]);
      else
        simd::store_part<T, N>(out + p * channels, sums[p], count);
  }
};

/// The columns [first, end) of the result whose element `tap` lies inside of the image.
std::pair<int64_t, int64_t> inside(const ConvShape& s, int64_t tap) {
  const int64_t before = s.padding[2] - tap * s.dilation[2], last = s.in[2] - 1 + before;
  const int64_t first = before > 0 ? (before - 1) / s.stride[2] + 1 : 0;
  return {first, last < 0 ? 0 : std::min(s.out[2], last / s.stride[2] + 1)};
}

/// sums (taps, channels) += the products of one line of the result's gradient with what its windows hold.
template <class T> void add_line(const ConvShape& s, const T* x, const T* grad, int64_t line, T* sums) {
  constexpr int N = simd::kLanes<T>;
  const int64_t n = line / (s.out[0] * s.out[1]), channels = s.channels, step = s.stride[2] * channels;
  for (int64_t a = 0; a < s.kernel[0]; ++a) {
    const int64_t d = line / s.out[1] % s.out[0] * s.stride[0] - s.padding[0] + a * s.dilation[0];
    if (d < 0 || d >= s.in[0]) continue;
    for (int64_t b = 0; b < s.kernel[1]; ++b) {
      const int64_t h = line % s.out[1] * s.stride[1] - s.padding[1] + b * s.dilation[1];
      if (h < 0 || h >= s.in[1]) continue;
      const T* row = x + ((n * s.in[0] + d) * s.in[1] + h) * s.in[2] * channels;
      for (int64_t k = 0; k < s.kernel[2]; ++k) {
        const auto [first, end] = inside(s, k);
        if (first >= end) continue;
        T* to = sums + ((a * s.kernel[1] + b) * s.kernel[2] + k) * channels;
        const T* from = row + (first * s.stride[2] - s.padding[2] + k * s.dilation[2]) * channels;
        const T* g = grad + (line * s.out[2] + first) * channels;
        for (int64_t c = 0; c < channels; c += N) {
          const int count = static_cast<int>(std::min<int64_t>(N, channels - c));
          const auto load = [&](const T* p) {
            return count == N ? simd::load<T, N>(p) : simd::load_part<T, N>(p, count);
          };
          simd::Vec<T, N> sum{};
          for (int64_t w = 0; w < end - first; ++w) sum += load(g + w * channels + c) * load(from + w * step + c);
          simd::store_part<T, N>(to + c, load(to + c) + sum, count);
        }
      }
    }
  }
}

}  // namespace

template <class T>
void depthwise_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias,
                    T* out) {
  Scratch<T> packed(s.taps() * s.channels);
  pack(s, weight, strides, packed.data());
  const Links columns = Links::of_windows(windows_of(s, 2), s.in[2], s.out[2]);
  LinkedSums<T>{x,
                s.in,
                packed.data(),
                s.kernel,
                bias,
                out,
                s.out,
                s.batch,
                s.channels,
                Links::of_windows(windows_of(s, 0), s.in[0], s.out[0]),
                Links::of_windows(windows_of(s, 1), s.in[1], s.out[1]),
                columns_of(columns, s.out[2])}
      .run();
}

template <class T>
void depthwise_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                  T* grad_x) {
  Scratch<T> packed(s.taps() * s.channels);
  pack(s, weight, strides, packed.data());
  const Links columns = Links::of_pixels(windows_of(s, 2), s.in[2], s.out[2]);
  LinkedSums<T>{grad,
                s.out,
                packed.data(),
                s.kernel,
                nullptr,
                grad_x,
                s.in,
                s.batch,
                s.channels,
                Links::of_pixels(windows_of(s, 0), s.in[0], s.out[0]),
                Links::of_pixels(windows_of(s, 1), s.in[1], s.out[1]),
                columns_of(columns, s.in[2])}
      .run();
}

/// In a number of pieces that depends on the sizes alone, summed in their order.
template <class T>
void depthwise_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                     const WeightStrides& strides) {
  const int64_t sums = s.taps() * s.channels, lines = s.out_lines(), work = lines * s.out[2] * sums;
  const int64_t pieces = std::clamp<int64_t>(work / 65536, 1, std::min<int64_t>(lines, 32));
  Scratch<T> parts(checked_multiply(pieces, sums));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      T* part = parts.data() + piece * sums;
      std::fill_n(part, sums, T{});
      for (int64_t line = lines * piece / pieces; line < lines * (piece + 1) / pieces; ++line)
        add_line(s, x, grad, line, part);
    }
  });
  for_each_tap(s, strides, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < s.channels; ++c) {
      T sum{};
      for (int64_t piece = 0; piece < pieces; ++piece) sum += parts.data()[piece * sums + tap * s.channels + c];
      grad_weight[at + c * strides[0]] = sum;
    }
  });
}

#define WEFT_DEPTHWISE(T)                                                                                        \
  template void depthwise_conv<T>(const ConvShape&, const T*, const T*, const WeightStrides&, const T*, T*);     \
  template void depthwise_conv_backward_data<T>(const ConvShape&, const T*, const T*, const WeightStrides&, T*); \
  template void depthwise_conv_backward_weights<T>(const ConvShape&, const T*, const T*, T*, const WeightStrides&);
WEFT_DEPTHWISE(float)
WEFT_DEPTHWISE(double)
#undef WEFT_DEPTHWISE

}  // namespace weft::kernels::cpu

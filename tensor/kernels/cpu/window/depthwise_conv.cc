// A block of neighbouring pixels at a time, register by register of their channels: the window's elements of a register
// are read once for all pixels of the block, and where neighbouring pixels share what they read, that as well. Bands of
// blocks go down the image before they go along it, so that the lines of a window are in the first-level cache.
#include "tensor/kernels/cpu/window/depthwise_conv.h"

#include <algorithm>
#include <vector>

#include "tensor/kernels/cpu/window/channel_line.h"
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

/// A value for every element of the window and every channel, a line of channels after the other: (lines, taps,
/// channels of a line). Lines of one size apart would compete for the same places of the cache.
template <class T> int64_t packed_size(const ConvShape& s) {
  return (s.channels + kChannels<T> - 1) / kChannels<T> * kChannels<T> * s.taps();
}
template <class T> int64_t packed_at(const ConvShape& s, int64_t tap, int64_t c) {
  return (c / kChannels<T> * s.taps() + tap) * kChannels<T> + c % kChannels<T>;
}
template <class T> void pack(const ConvShape& s, const T* weight, const WeightStrides& strides, T* packed) {
  for_each_tap(s, strides, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < s.channels; ++c) packed[packed_at<T>(s, tap, c)] = weight[at + c * strides[0]];
  });
}

/// Pixels of a line with the same taps. Pixel i < count lies at `to` + i `to_step`; its tap j < taps, element
/// `tap` + j `tap_step` of the window, connects it with `from` + i `from_step` + j `at_step` of the other side's line.
struct Run {
  int64_t to, to_step, count;
  int64_t from, from_step;
  int64_t taps, at_step, tap, tap_step;
  /// Neighbouring pixels read what lies side by side.
  bool slides() const { return from_step == 1 && at_step == 1; }
};

/// The pixel w alone, its taps in the order of what they read.
Run run_of(const Links& links, int64_t w) {
  const Link *begin = links.begin(w), *end = links.end(w);
  Run run{w, 1, 1, 0, 1, end - begin, 1, 0, 1};
  if (begin == end) return run;
  const bool descends = end[-1].at < begin->at;
  const Link first = descends ? end[-1] : *begin;
  run.from = first.at, run.tap = first.tap;
  if (run.taps > 1) {
    const Link second = descends ? end[-2] : begin[1];
    run.at_step = second.at - first.at, run.tap_step = second.tap - first.tap;
  }
  return run;
}

bool continues(const Run& run, const Run& next) {
  if (run.taps != next.taps) return false;
  if (run.taps == 0) return true;
  const int64_t step = next.from - (run.from + (run.count - 1) * run.from_step);
  return run.tap == next.tap && run.tap_step == next.tap_step && run.at_step == next.at_step &&
         (run.count == 1 || step == run.from_step);
}

/// Runs of neighbouring pixels, which go down the image together.
using Band = std::vector<Run>;

/// The pixels of a line; those that read alike are `period` apart.
std::vector<Band> bands_of(const Links& links, int64_t width, int64_t period, int64_t most) {
  std::vector<Run> runs;
  for (int64_t first = 0; first < std::min(period, width); ++first) {
    bool open = false;
    for (int64_t w = first; w < width; w += period) {
      const Run next = run_of(links, w);
      if (open && runs.back().count < most && continues(runs.back(), next)) {
        Run& run = runs.back();
        if (run.count == 1) run.to_step = period, run.from_step = next.from - run.from;
        ++run.count;
      } else {
        runs.push_back(next), open = true;
      }
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.to < b.to; });
  std::vector<Band> bands;
  int64_t pixels = 0;
  for (const Run& run : runs) {
    // 2: the border's pixels beside a run of the image's inside
    if (bands.empty() || pixels + run.count > period * most + 2) bands.emplace_back(), pixels = 0;
    bands.back().push_back(run), pixels += run.count;
  }
  return bands;
}

/// A line of the window: what it reads of the other side, and its elements of the weight (or of the weight's gradient).
struct WindowLine {
  int64_t from, tap;  // in pixels and in elements of the window
};

/// The sums run over (pixel, channel) of a result in one direction or the other: what both directions and the gradient
/// of the weight share.
struct Walk {
  Size3 from_size, kernel, to_size;
  int64_t batch, channels;
  Links depths, lines;
  std::vector<Band> bands;

  /// Elements of either side from what is gone through to what comes after: the next line, or pixels of the same one.
  int64_t ahead() const { return (to_size[1] > 1 ? from_size[2] : 16) * channels; }
  int64_t to_ahead() const { return (to_size[1] > 1 ? to_size[2] : 16) * channels; }
  int64_t parts() const { return batch * to_size[0] * static_cast<int64_t>(bands.size()) * to_size[1]; }
  /// f(run, first pixel of the line, lines of the windows) for parts [begin, end).
  template <class F> void each(int64_t begin, int64_t end, const F& f) const {
    std::vector<WindowLine> window;
    const auto count = static_cast<int64_t>(bands.size());
    for (int64_t i = begin; i < end; ++i) {
      const int64_t h = i % to_size[1], image = i / to_size[1] / count, n = image / to_size[0], d = image % to_size[0];
      window.clear();
      for (const Link* a = depths.begin(d); a != depths.end(d); ++a)
        for (const Link* b = lines.begin(h); b != lines.end(h); ++b)
          window.push_back({((n * from_size[0] + a->at) * from_size[1] + b->at) * from_size[2],
                            (a->tap * kernel[1] + b->tap) * kernel[2]});
      for (const Run& run : bands[static_cast<size_t>(i / to_size[1] % count)])
        f(run, (image * to_size[1] + h) * to_size[2], window);
    }
  }
};

/// Pixels of a line that are gone through together: with the lines of their windows they fit the first-level cache.
int64_t most_pixels(const ConvShape& s, int64_t bytes) {
  return std::max<int64_t>(8, 24576 / (s.channels * bytes * std::min<int64_t>(s.kernel[1], 3)) / 8 * 8);
}

Walk to_outputs(const ConvShape& s, int64_t bytes) {
  return {s.in,
          s.kernel,
          s.out,
          s.batch,
          s.channels,
          Links::of_windows(windows_of(s, 0), s.in[0], s.out[0]),
          Links::of_windows(windows_of(s, 1), s.in[1], s.out[1]),
          bands_of(Links::of_windows(windows_of(s, 2), s.in[2], s.out[2]), s.out[2], 1, most_pixels(s, bytes))};
}

Walk to_inputs(const ConvShape& s, int64_t bytes) {
  return {s.out,
          s.kernel,
          s.in,
          s.batch,
          s.channels,
          Links::of_pixels(windows_of(s, 0), s.in[0], s.out[0]),
          Links::of_pixels(windows_of(s, 1), s.in[1], s.out[1]),
          bands_of(Links::of_pixels(windows_of(s, 2), s.in[2], s.out[2]), s.in[2], s.stride[2], most_pixels(s, bytes))};
}

/// f(K, j) for a run's taps [j, j + K): at most five, which leave registers free for a block of pixels.
template <class F> void for_taps(int64_t taps, const F& f) {
  int64_t j = 0;
  do {
    const int64_t left = taps - j, take = left <= 5 ? left : left < 10 ? (left + 1) / 2 : 5;
    switch (take) {
      case 2: f(std::integral_constant<int, 2>{}, j); break;
      case 3: f(std::integral_constant<int, 3>{}, j); break;
      case 4: f(std::integral_constant<int, 4>{}, j); break;
      case 5: f(std::integral_constant<int, 5>{}, j); break;
      default: f(std::integral_constant<int, 1>{}, j); break;
    }
    j += take;
  } while (j < taps);
}

/// f(P, i) for a run's pixels [i, i + P).
template <class T, class F> void for_blocks(int64_t pixels, const F& f) {
  int64_t i = 0;
  for (; i + kPixels<T> <= pixels; i += kPixels<T>) f(std::integral_constant<int, kPixels<T>>{}, i);
  if constexpr (kPixels<T> == 8)
    if (i + 4 <= pixels) f(std::integral_constant<int, 4>{}, i), i += 4;
  for (; i + 2 <= pixels; i += 2) f(std::integral_constant<int, 2>{}, i);
  if (i < pixels) f(std::integral_constant<int, 1>{}, i);
}

/// step(p, k, load(row + p steps[0] + k steps[1])) for P pixels and K taps; where both steps are one, every place is
/// loaded once.
template <int P, int K, bool kSlides, class T, class Load, class Step>
WEFT_SIMD void each_pair(const T* row, const int64_t (&steps)[2], const Load& load, const Step& step) {
  if constexpr (kSlides) {
#pragma GCC unroll 16
    for (int at = 0; at < P + K - 1; ++at, row += steps[0]) {
      const auto x = load(row);
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k)
        if (at - k >= 0 && at - k < P) step(at - k, k, x);
    }
  } else {
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p, row += steps[0])
#pragma GCC unroll 8
      for (int k = 0; k < K; ++k) step(p, k, load(row + k * steps[1]));
  }
}

/// Asks for the memory of P pixels; it may lie beyond the image.
template <int P, class T> WEFT_SIMD void ask_for(const T* pixel, int64_t step) {
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) __builtin_prefetch(pixel + p * step);
}

/// f(P, K, slides, i, j) for each block of a run's pixels [i, i + P) and taps [j, j + K).
template <class T, class F> void for_blocks_and_taps(const Run& run, const F& f) {
  for_blocks<T>(run.count, [&]<int P>(std::integral_constant<int, P>, int64_t i) {
    for_taps(run.taps, [&]<int K>(std::integral_constant<int, K>, int64_t j) {
      if constexpr (P > 1)
        if (run.slides()) return f.template operator()<P, K, true>(i, j);
      f.template operator()<P, K, false>(i, j);
    });
  });
}

using Window = std::vector<WindowLine>;

/// Both directions: to(pixel) = start + the sum over the pixel's links of weight(taps) from(links), channel by channel.
template <class T> struct LinkedSums {
  using Line = ChannelLine<T>;
  const T* from;
  const T* weight;  // packed
  const T* start;   // per channel, or null
  T* to;
  int64_t channels, taps;
  int64_t ahead, to_ahead;  // see Walk

  /// out: the block's pixels. Taps after the first ones add to what is there.
  template <int P, int K, bool kSlides>
  void block(const Run& run, const Window& window, int64_t i, int64_t j, T* out) const {
    const int64_t out_step = run.to_step * channels, tap_step = run.tap_step * kChannels<T>;
    const int64_t steps[2] = {run.from_step * channels, run.at_step * channels};
    const T* first = from + (run.from + i * run.from_step + j * run.at_step) * channels;
    const T* tap = weight + (run.tap + j * run.tap_step) * kChannels<T>;
    for_lines<T>(
        channels, [&](int64_t c, auto count) __attribute__((always_inline)) {
          Line sums[P];
#pragma GCC unroll 8
          for (int p = 0; p < P; ++p)
            sums[p] = j > 0              ? line_at(out + p * out_step + c, count)
                      : start != nullptr ? line_at(start + c, count)
                                         : Line{};
          if (!window.empty()) ask_for<P>(first + window.back().from * channels + c + ahead, steps[0]);
          ask_for<P>(out + c + to_ahead, out_step);
          if (run.taps > 0)
            for (const WindowLine& line : window) {
              const T *row = first + line.from * channels + c, *at = tap + line.tap * kChannels<T> + c * taps;
              Line factors[K];
#pragma GCC unroll 8
              for (int k = 0; k < K; ++k) factors[k] = line_at(at + k * tap_step, kWhole);
              each_pair<P, K, kSlides>(
                  row, steps, [&](const T* place) __attribute__((always_inline)) { return line_at(place, count); },
                  [&](int p, int k, const Line& x)
                      __attribute__((always_inline)) { sums[p].add_product(factors[k], x); });
            }
#pragma GCC unroll 8
          for (int p = 0; p < P; ++p) put_line(out + p * out_step + c, sums[p], count);
        });
  }
  void run(const Walk& walk) const {
    const int64_t work = walk.to_size[2] / static_cast<int64_t>(walk.bands.size()) + 1;
    const int64_t grain = std::max<int64_t>(1, 32768 / (work * channels));
    parallel_for(walk.parts(), grain, [&](int64_t begin, int64_t end) {
      walk.each(begin, end, [&](const Run& run, int64_t line, const Window& window) {
        for_blocks_and_taps<T>(run, [&]<int P, int K, bool kSlides>(int64_t i, int64_t j) {
          block<P, K, kSlides>(run, window, i, j, to + (line + run.to + i * run.to_step) * channels);
        });
      });
    });
  }
  static constexpr std::integral_constant<int, kChannels<T>> kWhole{};
};

/// sums (packed) += the products of pixels of the result's gradient with what their windows hold.
template <class T> struct WeightSums {
  using Line = ChannelLine<T>;
  const T *x, *grad;
  int64_t channels, taps;
  int64_t ahead, to_ahead;

  template <int P, int K, bool kSlides>
  void block(const Run& run, const Window& window, int64_t i, int64_t j, const T* g, T* sums) const {
    const int64_t g_step = run.to_step * channels, tap_step = run.tap_step * kChannels<T>;
    const int64_t steps[2] = {run.from_step * channels, run.at_step * channels};
    const T* first = x + (run.from + i * run.from_step + j * run.at_step) * channels;
    T* tap = sums + (run.tap + j * run.tap_step) * kChannels<T>;
    for_lines<T>(
        channels, [&](int64_t c, auto count) __attribute__((always_inline)) {
          if (!window.empty()) ask_for<P>(first + window.back().from * channels + c + ahead, steps[0]);
          ask_for<P>(g + c + to_ahead, g_step);
          Line grads[P];
#pragma GCC unroll 8
          for (int p = 0; p < P; ++p) grads[p] = line_at(g + p * g_step + c, count);
          for (const WindowLine& line : window) {
            const T* row = first + line.from * channels + c;
            T* to = tap + line.tap * kChannels<T> + c * taps;
            Line parts[K] = {};
            each_pair<P, K, kSlides>(
                row, steps, [&](const T* place) __attribute__((always_inline)) { return line_at(place, count); },
                [&](int p, int k, const Line& value)
                    __attribute__((always_inline)) { parts[k].add_product(grads[p], value); });
#pragma GCC unroll 8
            for (int k = 0; k < K; ++k) {
              Line sum = line_at(to + k * tap_step, kWhole);
              for (int v = 0; v < kParts<T>; ++v) sum.part[v] += parts[k].part[v];
              put_line(to + k * tap_step, sum, kWhole);
            }
          }
        });
  }
  void add(const Walk& walk, int64_t begin, int64_t end, T* sums) const {
    walk.each(begin, end, [&](const Run& run, int64_t line, const Window& window) {
      if (run.taps == 0) return;
      for_blocks_and_taps<T>(run, [&]<int P, int K, bool kSlides>(int64_t i, int64_t j) {
        block<P, K, kSlides>(run, window, i, j, grad + (line + run.to + i * run.to_step) * channels, sums);
      });
    });
  }
  static constexpr std::integral_constant<int, kChannels<T>> kWhole{};
};

}  // namespace

template <class T>
void depthwise_conv(const ConvShape& s, const T* x, const T* weight, const WeightStrides& strides, const T* bias,
                    T* out) {
  Scratch<T> packed(packed_size<T>(s));
  std::fill_n(packed.data(), packed_size<T>(s), T{});
  pack(s, weight, strides, packed.data());
  const Walk walk = to_outputs(s, sizeof(T));
  LinkedSums<T>{x, packed.data(), bias, out, s.channels, s.taps(), walk.ahead(), walk.to_ahead()}.run(walk);
}

template <class T>
void depthwise_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                  T* grad_x) {
  Scratch<T> packed(packed_size<T>(s));
  std::fill_n(packed.data(), packed_size<T>(s), T{});
  pack(s, weight, strides, packed.data());
  const Walk walk = to_inputs(s, sizeof(T));
  LinkedSums<T>{grad, packed.data(), nullptr, grad_x, s.channels, s.taps(), walk.ahead(), walk.to_ahead()}.run(walk);
}

/// In a number of pieces that depends on the sizes alone, summed in their order.
template <class T>
void depthwise_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                     const WeightStrides& strides) {
  const Walk walk = to_outputs(s, sizeof(T));
  const int64_t sums = packed_size<T>(s), parts = walk.parts(), work = s.out_pixels() * sums;
  // Adding the pieces' sums up stays small beside reading x.
  const int64_t most = std::clamp<int64_t>(s.out_pixels() * s.channels / (4 * sums), 1, 32);
  const int64_t pieces = std::clamp<int64_t>(work / 65536, 1, std::min(std::max<int64_t>(parts, 1), most));
  Scratch<T> partial(checked_multiply(pieces, sums));
  T* total = partial.data();
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      T* part = total + piece * sums;
      std::fill_n(part, sums, T{});
      WeightSums<T>{x, grad, s.channels, s.taps(), walk.ahead(), walk.to_ahead()}.add(
          walk, parts * piece / pieces, parts * (piece + 1) / pieces, part);
    }
  });
  parallel_for(sums, 65536 / pieces, [&](int64_t begin, int64_t end) {
    for (int64_t piece = 1; piece < pieces; ++piece)
      for (int64_t i = begin; i < end; ++i) total[i] += total[piece * sums + i];
  });
  for_each_tap(s, strides, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < s.channels; ++c) grad_weight[at + c * strides[0]] = total[packed_at<T>(s, tap, c)];
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

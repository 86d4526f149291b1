// A block of adjacent pixels at a time, register by register of their channels: the window's elements of a register are
// read once for all pixels of the block, and so are pixels that the windows of adjacent pixels share.
#include "tensor/kernels/cpu/window/depthwise_conv.h"

#include <algorithm>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/window/channel_walk.h"

namespace weft::kernels::cpu {
namespace {

/// A value for every element of the window and every channel, a cache line of channels after the other: (lines, taps,
/// channels of a line). Rows of the weight, one size apart, would compete for the same cache sets.
template <class T> int64_t packed_size(const ConvShape& s) {
  return ceil_div(s.channels, kChannels<T>) * kChannels<T> * s.taps();
}
template <class T> int64_t packed_at(const ConvShape& s, int64_t tap, int64_t c) {
  return (c / kChannels<T> * s.taps() + tap) * kChannels<T> + c % kChannels<T>;
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
          if (!window.empty()) prefetch_pixels(first + window.back().from * channels + c + ahead, steps[0], P);
          prefetch_pixels(out + c + to_ahead, out_step, P);
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
    walk.parallel([&](const Run& run, int64_t line, const Window& window) {
      for_blocks_and_taps<T>(run, [&]<int P, int K, bool kSlides>(int64_t i, int64_t j) {
        block<P, K, kSlides>(run, window, i, j, to + (line + run.to + i * run.to_step) * channels);
      });
    });
  }
  static constexpr std::integral_constant<int, kChannels<T>> kWhole{};
};

template <class T>
void run(const ConvShape& s, const Walk& walk, const T* from, const T* weight, const WeightStrides& strides,
         const T* start, T* to) {
  const Scratch<T> packed(packed_size<T>(s));
  std::fill_n(packed.data(), packed_size<T>(s), T{});
  for_each_weight_tap(s, strides, [&](int64_t tap, int64_t at) {
    for (int64_t c = 0; c < s.channels; ++c) packed.data()[packed_at<T>(s, tap, c)] = weight[at + c * strides[0]];
  });
  LinkedSums<T>{from, packed.data(), start, to, s.channels, s.taps(), walk.ahead(), walk.to_ahead()}.run(walk);
}

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
          if (!window.empty()) prefetch_pixels(first + window.back().from * channels + c + ahead, steps[0], P);
          prefetch_pixels(g + c + to_ahead, g_step, P);
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
  run(s, to_outputs(s, sizeof(T)), x, weight, strides, bias, out);
}

template <class T>
void depthwise_conv_backward_data(const ConvShape& s, const T* grad, const T* weight, const WeightStrides& strides,
                                  T* grad_x) {
  run<T>(s, to_inputs(s, sizeof(T)), grad, weight, strides, nullptr, grad_x);
}

template <class T>
void depthwise_conv_backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_weight,
                                     const WeightStrides& strides) {
  const Walk walk = to_outputs(s, sizeof(T));
  const WeightSums<T> weight_sums{x, grad, s.channels, s.taps(), walk.ahead(), walk.to_ahead()};
  sum_in_pieces<T>(
      s, walk.parts(), packed_size<T>(s),
      [&](int64_t begin, int64_t end, T* sums) { weight_sums.add(walk, begin, end, sums); },
      [&](const T* total) {
        for_each_weight_tap(s, strides, [&](int64_t tap, int64_t at) {
          for (int64_t c = 0; c < s.channels; ++c) grad_weight[at + c * strides[0]] = total[packed_at<T>(s, tap, c)];
        });
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

// The order in which convolutions whose channels are combined with few others (depthwise, narrow groups) compute their
// pixels: a band of adjacent columns from the top of the image to its bottom, then the next one, so that the lines of a
// window are in the first-level cache. The pixels of a band's line that read in the same way are one run.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/window/channel_line.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/links.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {

inline AxisWindows windows_of(const ConvShape& s, int axis) {
  return {s.kernel[axis], s.stride[axis], s.padding[axis], s.dilation[axis]};
}

/// Pixels of a line with the same taps. Pixel i < count lies at `to` + i `to_step`; its tap j < taps, element
/// `tap` + j `tap_step` of the window, connects it with `from` + i `from_step` + j `at_step` of the other side's line.
struct Run {
  int64_t to, to_step, count;
  int64_t from, from_step;
  int64_t taps, at_step, tap, tap_step;
  /// Adjacent pixels read adjacent pixels.
  bool slides() const { return from_step == 1 && at_step == 1; }
};

/// The pixel w alone, its taps in the order of what they read.
inline Run run_of(const Links& links, int64_t w) {
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

inline bool continues(const Run& run, const Run& next) {
  if (run.taps != next.taps) return false;
  if (run.taps == 0) return true;
  const int64_t step = next.from - (run.from + (run.count - 1) * run.from_step);
  return run.tap == next.tap && run.tap_step == next.tap_step && run.at_step == next.at_step &&
         (run.count == 1 || step == run.from_step);
}

/// Runs of adjacent pixels, which go down the image together.
using Band = std::vector<Run>;

/// The pixels of a line; those that read alike are `period` apart.
inline std::vector<Band> bands_of(const Links& links, int64_t width, int64_t period, int64_t most) {
  period = std::min(period, std::max<int64_t>(width, 1));  // strides have no limit
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

using Window = std::vector<WindowLine>;

/// The sums run over (pixel, channel) of a result in one direction or the other: what both directions and the gradient
/// of the weight share.
struct Walk {
  Size3 from_size, kernel, to_size;
  int64_t batch, channels;
  Links depths, lines;
  std::vector<Band> bands;

  /// How many elements ahead each side is prefetched: the next line, or later pixels of the same one.
  int64_t ahead() const { return (to_size[1] > 1 ? from_size[2] : 16) * channels; }
  int64_t to_ahead() const { return (to_size[1] > 1 ? to_size[2] : 16) * channels; }
  int64_t parts() const { return batch * to_size[0] * static_cast<int64_t>(bands.size()) * to_size[1]; }
  /// f(run, first pixel of the line, lines of the windows) for parts [begin, end).
  template <class F> void each(int64_t begin, int64_t end, const F& f) const {
    Window window;
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
  /// The same for all parts, in parallel.
  template <class F> void parallel(const F& f) const {
    const int64_t work = to_size[2] / static_cast<int64_t>(bands.size()) + 1;
    const int64_t grain = std::max<int64_t>(1, 32768 / (work * channels));
    parallel_for(parts(), grain, [&](int64_t begin, int64_t end) { each(begin, end, f); });
  }
};

/// Pixels of a line that are processed together: with the lines of their windows they fit the L1 cache.
inline int64_t most_pixels(const ConvShape& s, int64_t bytes) {
  return std::max<int64_t>(8, 24576 / (s.channels * bytes * std::min<int64_t>(s.kernel[1], 3)) / 8 * 8);
}

inline Walk to_outputs(const ConvShape& s, int64_t bytes) {
  const auto links = [&](int axis) { return Links::of_windows(windows_of(s, axis), s.in[axis], s.out[axis]); };
  std::vector<Band> bands = bands_of(links(2), s.out[2], 1, most_pixels(s, bytes));
  return {s.in, s.kernel, s.out, s.batch, s.channels, links(0), links(1), std::move(bands)};
}

inline Walk to_inputs(const ConvShape& s, int64_t bytes) {
  const auto links = [&](int axis) { return Links::of_pixels(windows_of(s, axis), s.in[axis], s.out[axis]); };
  std::vector<Band> bands = bands_of(links(2), s.in[2], s.stride[2], most_pixels(s, bytes));
  return {s.out, s.kernel, s.in, s.batch, s.channels, links(0), links(1), std::move(bands)};
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

/// Prefetches pixels; they may lie beyond the image.
template <class T> WEFT_SIMD void prefetch_pixels(const T* pixel, int64_t step, int64_t pixels) {
#pragma GCC unroll 8
  for (int64_t p = 0; p < pixels; ++p) __builtin_prefetch(pixel + p * step);
}

/// use(what add(begin, end, to) adds to `sums` values over the parts of a walk), in a number of pieces that depends on
/// the sizes alone, summed in their order.
template <class T, class Add, class Use>
void sum_in_pieces(const ConvShape& s, int64_t parts, int64_t sums, const Add& add, const Use& use) {
  const int64_t work = s.out_pixels() * sums;
  // Adding the pieces' sums up stays small beside reading x.
  const int64_t most = std::clamp<int64_t>(s.out_pixels() * s.channels / (4 * sums), 1, 32);
  const int64_t pieces = std::clamp<int64_t>(work / 65536, 1, std::min(std::max<int64_t>(parts, 1), most));
  const Scratch<T> partial(checked_multiply(pieces, sums));
  T* total = partial.data();
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      std::fill_n(total + piece * sums, sums, T{});
      add(parts * piece / pieces, parts * (piece + 1) / pieces, total + piece * sums);
    }
  });
  parallel_for(sums, 65536 / pieces, [&](int64_t begin, int64_t end) {
    for (int64_t piece = 1; piece < pieces; ++piece)
      for (int64_t i = begin; i < end; ++i) total[i] += total[piece * sums + i];
  });
  use(total);
}

}  // namespace weft::kernels::cpu

// Maxima of windows of few channels: a register holds windows of one row, channel after channel.
#pragma once

#include <optional>
#include <vector>

#include "tensor/kernels/cpu/window/pool_loops.h"

namespace weft::kernels::cpu {

/// The columns that the windows of a row read, for registers that hold windows: those of place k one after another. A
/// window with fewer columns reads its last one again, which changes nothing.
template <class C> struct WindowColumns {
  using I = IndexLane<C>;
  static constexpr int N = simd::kLanes<C>;
  int64_t windows, longest = 0;
  std::vector<int32_t> at;
  std::vector<I> tap;
  std::vector<int64_t> empty;  // windows of nothing but padding
  /// Windows that lie evenly on the line, a row with its padding, need no table but that of their first places. (Not
  /// where there is more padding than row.)
  std::optional<AxisWindows> even;
  int64_t padding = 0, length;  // of the line

  WindowColumns(const Links& columns, int64_t width, int64_t count, const MaxWindows& pool)
      : windows(count), length(width) {
    for (int64_t w = 0; w < windows; ++w) longest = std::max(longest, columns.end(w) - columns.begin(w));
    // Elements that lie apart are loaded one by one, as many as a register holds: not for fewer windows.
    const bool fills_registers = pool.options.step().width <= 2 || windows >= N;
    if (!pool.is_adaptive() && fills_registers && pool.options.padding.width <= width) {
      even = windows_of(pool.options, 1);
      padding = even->padding;
      length =
          std::max(padding + width, (windows - 1) * even->stride + (even->kernel - 1) * even->dilation + 1) + 4 * N;
    }
    for (int64_t k = 0; k < (even ? std::min<int64_t>(longest, 1) : longest); ++k)
      for (int64_t w = 0; w < windows; ++w) {
        const int64_t size = columns.end(w) - columns.begin(w);
        const Link link = size == 0 ? Link{0, 0} : columns.begin(w)[std::min(k, size - 1)];
        at.push_back(static_cast<int32_t>(link.at)), tap.push_back(static_cast<I>(link.tap));
        if (size == 0 && k == 0) empty.push_back(w);
      }
  }
};

/// One pixel's step of every window of a row: `row` has what the windows' place k reads.
template <class C, class I>
void step_windows(const C* row, const int32_t* at, const I* tap, I first, int64_t windows, C* best, I* index) {
#pragma GCC ivdep
  for (int64_t w = 0; w < windows; ++w) {
    const C value = row[at[w]], old = best[w];
    const bool wins = !(value <= old) & (old == old);
    best[w] = wins ? value : old;
    index[w] = wins ? first + tap[w] : index[w];
  }
}

/// All pixels of R registers of windows that lie evenly, kStride apart or o.stride where that is 0.
template <int R, int kStride, class C, class I>
void step_even(const C* line, const AxisWindows& o, I first, int64_t left, C* best, I* index) {
  constexpr int N = simd::kLanes<C>;
  simd::Vec<C, N> values[R];
  simd::Vec<I, N> taps[R];
  for (int r = 0; r < R; ++r) values[r] = simd::load<C, N>(best + r * N), taps[r] = simd::load<I, N>(index + r * N);
  for (int64_t t = 0; t < o.kernel; ++t, line += o.dilation)
    for (int r = 0; r < R; ++r) {
      const int count = static_cast<int>(std::min<int64_t>(N, left - r * N));
      const auto value = load_apart<kStride, C, N>(line + r * N * o.stride, o.stride, count);
      const auto wins = ~(value <= values[r]) & (values[r] == values[r]);
      values[r] = wins ? value : values[r];
      taps[r] = wins ? simd::splat<I, N>(first + static_cast<I>(t)) : taps[r];
    }
  for (int r = 0; r < R; ++r) simd::store<C, N>(best + r * N, values[r]), simd::store<I, N>(index + r * N, taps[r]);
}
template <int kStride, class C, class I>
void step_even_windows(const C* line, const AxisWindows& o, I first, int64_t windows, C* best, I* index) {
  constexpr int N = simd::kLanes<C>, kAtOnce = 4;  // which do not wait for each other
  int64_t w = 0;
  for (; w + kAtOnce * N <= windows; w += kAtOnce * N)
    step_even<kAtOnce, kStride>(line + w * o.stride, o, first, windows - w, best + w, index + w);
  for (; w < windows; w += N) step_even<1, kStride>(line + w * o.stride, o, first, windows - w, best + w, index + w);
}

/// One row of results, channel after channel; [a0, a1) are the rows of x it reads.
template <class S, class Index>
void line_of_few_channels(Image<S> x, const Link* a0, const Link* a1, const WindowColumns<Compute<S>>& columns,
                          int64_t kernel_width, int64_t channels, int64_t width, Image<S> out, Image<Index> indices,
                          int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  constexpr C kLowest = -std::numeric_limits<C>::infinity();
  const int64_t windows = columns.windows;
  const Scratch<C> line(columns.length), best(windows + columns.N);
  const Scratch<I> index(windows + columns.N);
  std::fill_n(line.data(), columns.length, kLowest);
  C* const row = line.data() + columns.padding;
  for (int64_t c = 0; c < channels; ++c) {
    std::fill_n(best.data(), windows + columns.N, kLowest);
    std::fill_n(index.data() + windows, columns.N, I{});
    const bool any = a0 != a1 && columns.longest > 0;
    for (int64_t w = 0; w < windows; ++w)
      index.data()[w] = any ? static_cast<I>(a0->tap * kernel_width) + columns.tap[static_cast<size_t>(w)]
                            : static_cast<I>(kNoIndex<Index>);
    for (const Link* a = a0; a != a1; ++a) {
      const S* from = x.at(a->at, 0) + c * x.channel;
      const auto first = static_cast<I>(a->tap * kernel_width);
      for (int64_t w = 0; w < width; ++w) row[w] = static_cast<C>(from[w * x.column]);
      if (columns.even) {
        const auto step = columns.even->stride == 1   ? step_even_windows<1, C, I>
                          : columns.even->stride == 2 ? step_even_windows<2, C, I>
                                                      : step_even_windows<0, C, I>;
        step(line.data(), *columns.even, first, windows, best.data(), index.data());
        continue;
      }
      for (int64_t k = 0; k < columns.longest; ++k)
        step_windows<C, I>(row, columns.at.data() + k * windows, columns.tap.data() + k * windows, first, windows,
                           best.data(), index.data());
    }
    for (int64_t w : columns.empty) best.data()[w] = kLowest, index.data()[w] = static_cast<I>(kNoIndex<Index>);
    for (int64_t w = 0; w < windows; ++w) {
      out.at(h, w)[c * out.channel] = static_cast<S>(best.data()[w]);
      indices.at(h, w)[c * indices.channel] = static_cast<Index>(index.data()[w]);
    }
  }
}

}  // namespace weft::kernels::cpu

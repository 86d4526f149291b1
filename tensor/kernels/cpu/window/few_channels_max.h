// Maxima of windows of few channels that do not lie evenly, or not enough of them in a row: step by step, from a table
// of the columns that they read.
#pragma once

#include <vector>

#include "tensor/kernels/cpu/window/max_indices.h"

namespace weft::kernels::cpu {

/// The columns that the windows of a row read, for registers that hold windows: those of place k one after another. A
/// window with fewer columns reads its last one again, which changes nothing.
template <class C> struct WindowColumns {
  using I = IndexLane<C>;
  int64_t windows, longest = 0;
  std::vector<int32_t> at;
  std::vector<I> tap;
  std::vector<int64_t> empty;  // windows of nothing but padding

  WindowColumns(const Links& columns, int64_t count) : windows(count) {
    for (int64_t w = 0; w < windows; ++w) longest = std::max(longest, columns.end(w) - columns.begin(w));
    for (int64_t k = 0; k < longest; ++k)
      for (int64_t w = 0; w < windows; ++w) {
        const int64_t size = columns.end(w) - columns.begin(w);
        const Link link = size == 0 ? Link{0, 0} : columns.begin(w)[std::min(k, size - 1)];
        at.push_back(static_cast<int32_t>(link.at)), tap.push_back(static_cast<I>(link.tap));
        if (size == 0 && k == 0) empty.push_back(w);
      }
  }
};

/// Every window of a row looks at what it reads of `row`; its first element has index `first`.
template <bool kIndices, class C, class I>
[[gnu::noinline]] void step_windows(const C* row, const WindowColumns<C>& columns, I first, C* best, I* index) {
  const int64_t windows = columns.windows, all = columns.longest * windows;
  for (int64_t k = 0; k < all; k += windows) {
    const int32_t* const at = columns.at.data() + k;
    const I* const tap = columns.tap.data() + k;
#pragma GCC ivdep
    for (int64_t w = 0; w < windows; ++w) {
      const C value = row[at[w]], old = best[w];
      const bool wins = simd::takes_place(value, old);
      best[w] = wins ? value : old;
      if constexpr (kIndices) index[w] = wins ? first + tap[w] : index[w];
    }
  }
}

/// A row of `count` elements that lie `step` apart, as C: where it is, or read into `line`.
template <class C, class S> const C* row_in_place(const S* from, int64_t step, int64_t count, C* line) {
  if constexpr (std::is_same_v<S, C>)
    if (step == 1) return from;
  read_row<C>(from, step, count, line);
  return line;
}

/// One row of results, channel after channel; [a0, a1) are the rows of x it reads.
template <class S, bool kIndices>
void line_of_few_channels(const Image<S>& x, const Link* a0, const Link* a1, const WindowColumns<Compute<S>>& columns,
                          int64_t kernel_width, int64_t channels, int64_t width, const Image<S>& out,
                          const IndexImage& indices, int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  constexpr C kLowest = -std::numeric_limits<C>::infinity();
  const int64_t windows = columns.windows;
  const Scratch<C> line(width), best(windows);
  const Scratch<I> index(kIndices ? windows : 0);
  for (int64_t c = 0; c < channels; ++c) {
    std::fill_n(best.data(), windows, kLowest);
    const bool any = a0 != a1 && columns.longest > 0;
    for (int64_t w = 0; kIndices && w < windows; ++w)
      index.data()[w] =
          any ? static_cast<I>(a0->tap * kernel_width) + columns.tap[static_cast<size_t>(w)] : kPaddingAlone;
    for (const Link* a = a0; a != a1; ++a) {
      const C* const row = row_in_place(x.at(a->at, 0) + c * x.channel, x.column, width, line.data());
      step_windows<kIndices>(row, columns, static_cast<I>(a->tap * kernel_width), best.data(), index.data());
    }
    for (int64_t w : columns.empty) {
      best.data()[w] = kLowest;
      if constexpr (kIndices) index.data()[w] = kPaddingAlone;
    }
    write_row<C>(best.data(), windows, out.at(h, 0) + c * out.channel, out.column);
    if constexpr (kIndices)
      indices.visit(
          [&](const auto& to) { write_row<I>(index.data(), windows, to.at(h, 0) + c * to.channel, to.column); });
  }
}

}  // namespace weft::kernels::cpu

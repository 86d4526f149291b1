// Maxima of windows that lie evenly on the rows of an image, channel after channel: a register holds adjacent windows
// of one row.
#pragma once

#include <vector>

#include "tensor/kernels/cpu/window/max_indices.h"

namespace weft::kernels::cpu {

/// How the windows of a pool lie on every row, with its padding.
template <class C> struct EvenWindows {
  using I = IndexLane<C>;
  static constexpr int N = simd::kLanes<C>;
  AxisWindows o;
  int64_t windows;
  int64_t length;                // that the windows span
  std::vector<I> first_tap;      // the first of each window that lies on the row: it wins where all are -inf
  std::vector<int64_t> outside;  // windows that hold padding alone

  EvenWindows(const AxisWindows& along, const Links& columns, int64_t count)
      : o(along), windows(count), length((count - 1) * o.stride + (o.kernel - 1) * o.dilation + 1) {
    for (int64_t w = 0; w < windows; ++w) {
      const Link *begin = columns.begin(w), *end = columns.end(w);
      if (begin == end) outside.push_back(w);
      first_tap.push_back(begin == end ? I{} : static_cast<I>(begin->tap));
    }
    first_tap.resize(static_cast<size_t>(windows + N));
  }
};

/// Lines of type L that are looked at together. The state of windows between groups is in `best` and, where indices are
/// wanted, in `index`.
template <class L> struct LineGroup {
  static constexpr int kLines = 8;
  using C = Compute<L>;
  int count;
  bool begins;
  const L* line[kLines];
  IndexLane<C> tap[kLines];
  C* best;
  IndexLane<C>* index;
};

/// R registers of windows from w on, which do not wait for each other. Those past the last window are moved back to end
/// with it. kStride as in load_apart().
template <int kStride, bool kIndices, int R, class L, class C>
[[gnu::always_inline]] inline void search_registers(const EvenWindows<C>& windows, const LineGroup<L>& group,
                                                    int64_t w) {
  using I = IndexLane<C>;
  constexpr int N = simd::kLanes<C>;
  const AxisWindows o = windows.o;
  const int64_t all = windows.windows;
  const int count = static_cast<int>(std::clamp<int64_t>(all, 1, N));  // (min() gets a warning of negative ones)
  simd::Vec<C, N> best[R];
  simd::Vec<I, N> index[R];
  int64_t at[R];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    at[r] = std::min(w + r * N, all - count);
    best[r] =
        group.begins ? simd::splat<C, N>(-std::numeric_limits<C>::infinity()) : simd::load<C, N>(group.best + at[r]);
    if constexpr (kIndices)
      index[r] = group.begins ? simd::load<I, N>(windows.first_tap.data() + at[r]) + simd::splat<I, N>(group.tap[0])
                              : simd::load<I, N>(group.index + at[r]);
  }
  for (int i = 0; i < group.count; ++i) {
    const L* line = group.line[i];
    I tap = group.tap[i];
    for (int64_t t = 0; t < o.kernel; ++t, line += o.dilation, ++tap)
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const auto value = load_apart<kStride, C, N>(line + at[r] * o.stride, o.stride, count);
        const auto stays = simd::keeps(best[r], value);
        best[r] = stays ? best[r] : value;
        if constexpr (kIndices) index[r] = stays ? index[r] : simd::splat<I, N>(tap);
      }
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    simd::store<C, N>(group.best + at[r], best[r]);
    if constexpr (kIndices) simd::store<I, N>(group.index + at[r], index[r]);
  }
}

template <int kStride, bool kIndices, class L, class C>
[[gnu::noinline]] void search_lines(const EvenWindows<C>& windows, const LineGroup<L>& group) {
  constexpr int N = simd::kLanes<C>;
  for (int64_t w = 0; w < windows.windows;) {
    const int64_t left = windows.windows - w;
    if (left > 2 * N)
      search_registers<kStride, kIndices, 4>(windows, group, w), w += 4 * N;
    else if (left > N)
      search_registers<kStride, kIndices, 2>(windows, group, w), w += 2 * N;
    else
      search_registers<kStride, kIndices, 1>(windows, group, w), w += N;
  }
}

/// Finds the maxima of one row of windows after another.
template <class S, bool kIndices> class RowMaxima {
  using C = Compute<S>;
  using I = IndexLane<C>;
  static constexpr int N = simd::kLanes<C>;
  static constexpr C kLowest = -std::numeric_limits<C>::infinity();

 public:
  /// For rows of `width` elements, `step` apart.
  RowMaxima(const EvenWindows<C>& windows, int64_t width, int64_t step)
      : windows_(windows),
        width_(width),
        in_place_(step == 1 && windows.o.padding == 0 && windows.length <= width && windows.windows >= N &&
                  (std::is_same_v<S, C> || windows.o.stride <= 2)),
        stored_(std::max(windows.length, windows.o.padding + width) + 4 * N),
        lines_(in_place_ ? 0 : LineGroup<C>::kLines * stored_),
        best_(windows.windows + N),
        index_(kIndices ? windows.windows + N : 0) {
    if (!in_place_) std::fill_n(lines_.data(), LineGroup<C>::kLines * stored_, kLowest);
  }

  /// Row h of the results of channel c; [a0, a1) are the rows of x that it reads.
  void write(const Image<S>& x, const Link* a0, const Link* a1, const Image<S>& out, const IndexImage& indices,
             int64_t h, int64_t c) const {
    const int64_t windows = windows_.windows;
    S* const to = out.at(h, 0) + c * out.channel;
    C* best = best_.data();
    if constexpr (std::is_same_v<S, C>)
      if (out.column == 1 && windows >= N) best = to;
    const auto row = [&](const Link& a) { return x.at(a.at, 0) + c * x.channel; };
    if (in_place_)
      search<S>(a0, a1, best, [&](int, const Link& a) { return row(a); });
    else
      search<C>(a0, a1, best, [&](int i, const Link& a) {
        C* const line = lines_.data() + i * stored_;
        read_row<C>(row(a), x.column, width_, line + windows_.o.padding);
        return line;
      });
    const auto put_padding = [&](int64_t w) {
      best[w] = kLowest;
      if constexpr (kIndices) index_.data()[w] = kPaddingAlone;
    };
    for (int64_t w = 0; a0 == a1 && w < windows; ++w) put_padding(w);
    for (int64_t w : windows_.outside) put_padding(w);
    if (best == best_.data()) write_row<C>(best, windows, to, out.column);
    if constexpr (kIndices)
      indices.visit([&](const auto& where) {
        write_row<I>(index_.data(), windows, where.at(h, 0) + c * where.channel, where.column);
      });
  }

 private:
  /// line(i, a) is the row of link a as windows read it, the i-th of a group.
  template <class L, class F> void search(const Link* a0, const Link* a1, C* best, const F& line) const {
    constexpr int kLines = LineGroup<L>::kLines;
    LineGroup<L> group;
    group.best = best, group.index = index_.data();
    for (const Link* a = a0; a < a1; a += kLines) {
      group.begins = a == a0, group.count = static_cast<int>(std::min<int64_t>(kLines, a1 - a));
      for (int i = 0; i < group.count; ++i)
        group.line[i] = line(i, a[i]), group.tap[i] = static_cast<I>(a[i].tap * windows_.o.kernel);
      if (windows_.o.stride == 1) search_lines<1, kIndices>(windows_, group);
      if (windows_.o.stride == 2) search_lines<2, kIndices>(windows_, group);
      if constexpr (std::is_same_v<L, C>)
        if (windows_.o.stride > 2) search_lines<0, kIndices>(windows_, group);
    }
  }

  const EvenWindows<C>& windows_;
  int64_t width_;
  bool in_place_;   // windows read rows where they are, not copied, as C, between their padding
  int64_t stored_;  // elements of a stored line, those included that a register reads too many
  Scratch<C> lines_, best_;
  Scratch<I> index_;
};

/// `rows`: those of the image that the windows of each row of results read.
template <class S, bool kIndices>
void maxima_of_rows(const Operand& x, const Operand& out, const Operand& indices,
                    const EvenWindows<Compute<S>>& windows, int64_t kernel_height, const Links& rows) {
  constexpr int64_t kWork = 32768;  // of one piece
  const int64_t channels = out.size(1), height = out.size(2), lines = channels * height;
  const int64_t work = out.size(3) * std::min(kWork, kernel_height * std::min(windows.o.kernel, kWork));
  // The neighbors in memory come next: rows of a channel, or channels of a row.
  const bool by_rows = x.stride(1) > x.stride(2);
  parallel_for(
      x.size(0) * lines, std::max<int64_t>(1, kWork / std::max<int64_t>(1, work)), [&](int64_t begin, int64_t end) {
        const RowMaxima<S, kIndices> maxima(windows, x.size(3), x.stride(3));
        for (int64_t i = begin; i < end; ++i) {
          const int64_t n = i / lines, k = i % lines;
          const int64_t c = by_rows ? k / height : k % channels, h = by_rows ? k % height : k / channels;
          maxima.write(Image<S>(x, n), rows.begin(h), rows.end(h), Image<S>(out, n), IndexImage(indices, n), h, c);
        }
      });
}

}  // namespace weft::kernels::cpu

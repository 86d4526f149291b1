// Maxima of windows that lie evenly on the rows of an image, channel after channel: a register holds adjacent windows
// of one row.
#pragma once

#include <vector>

#include "tensor/kernels/cpu/window/pool_loops.h"

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

/// Finds the maxima of one row of windows after another.
template <class S, class Index> class RowMaxima {
  using C = Compute<S>;
  using I = IndexLane<C>;
  static constexpr int N = simd::kLanes<C>, kLines = 8;
  static constexpr C kLowest = -std::numeric_limits<C>::infinity();

 public:
  /// For rows of `width` elements, `step` apart.
  RowMaxima(const EvenWindows<C>& windows, int64_t width, int64_t step)
      : windows_(windows),
        width_(width),
        step_(step),
        direct_(step == 1 && windows.o.padding == 0 && windows.length <= width && windows.windows >= N),
        stored_(std::max(windows.length, windows.o.padding + width) + 4 * N),
        lines_(direct_ ? 0 : kLines * stored_),
        best_(windows.windows + N),
        index_(kHasIndices<Index> ? windows.windows + N : 0) {
    std::fill_n(lines_.data(), direct_ ? 0 : kLines * stored_, static_cast<S>(kLowest));
  }

  /// A row of results; [a0, a1) are the rows of the image that it reads, the first element of row i at x + i * row.
  /// `indices` is null where none are wanted.
  void write(const S* x, int64_t row, const Link* a0, const Link* a1, S* out, int64_t out_step, Index* indices,
             int64_t index_step) const {
    constexpr bool kSmall = !std::is_same_v<Index, int32_t>;
    const auto put = [=](int64_t w, S value, auto index) {
      out[w * out_step] = value;
      if constexpr (kHasIndices<Index>) indices[w * index_step] = static_cast<Index>(index);
    };
    const Results to{out, out_step, indices, index_step};
    for (const Link* a = a0; a < a1; a += kLines) {
      Group group;
      group.count = static_cast<int>(std::min<int64_t>(kLines, a1 - a));
      group.begins = a == a0, group.ends = kSmall && a1 - a <= kLines;
      for (int i = 0; i < group.count; ++i) {
        group.line[i] = line(i, x + a[i].at * row);
        group.tap[i] = static_cast<I>(a[i].tap * windows_.o.kernel);
      }
      if (windows_.o.stride == 1)
        search<1>(group, to);
      else
        windows_.o.stride == 2 ? search<2>(group, to) : search<0>(group, to);
    }
    for (int64_t w = 0; !kSmall && a0 != a1 && w < windows_.windows; ++w)
      put(w, static_cast<S>(best_.data()[w]), index_.data()[w]);
    const S lowest = static_cast<S>(kLowest);
    constexpr auto kNone = kNoIndex<std::conditional_t<kHasIndices<Index>, Index, uint8_t>>;
    for (int64_t w = 0; a0 == a1 && w < windows_.windows; ++w) put(w, lowest, kNone);
    for (int64_t w : windows_.outside) put(w, lowest, kNone);
  }

 private:
  /// Lines that are looked at together. The state of windows between groups is in best_ and index_, and so is, of large
  /// windows, whose indices are wide, the result.
  struct Group {
    int count;
    bool begins, ends;
    const S* line[kLines];
    I tap[kLines];
  };
  struct Results {
    S* out;
    int64_t out_step;
    Index* indices;
    int64_t index_step;
  };

  /// A row as windows read it: where it is, or copied between its padding.
  const S* line(int i, const S* row) const {
    if (direct_) return row;
    S* const to = lines_.data() + i * stored_;
    S* const inner = to + windows_.o.padding;
    if (step_ == 1)
      std::copy_n(row, width_, inner);
    else
      for (int64_t w = 0; w < width_; ++w) inner[w] = row[w * step_];
    return to;
  }

  template <int kStride> [[gnu::noinline]] void search(const Group& group, const Results& to) const {
    const int64_t windows = windows_.windows;
    for (int64_t w = 0; w < windows;) {
      const int64_t left = windows - w;
      if (left > 2 * N)
        search_at<kStride, 4>(group, to, w), w += 4 * N;
      else
        left > N ? search_at<kStride, 2>(group, to, w) : search_at<kStride, 1>(group, to, w), w += 2 * N;
    }
  }
  /// R registers of windows from w on, which do not wait for each other. Those past the last window are moved back to
  /// end with it.
  template <int kStride, int R>
  [[gnu::always_inline]] void search_at(const Group& group, const Results& to, int64_t w) const {
    const AxisWindows o = windows_.o;
    const int64_t windows = windows_.windows;
    const int count = static_cast<int>(std::clamp<int64_t>(windows, 1, N));  // (min() gets a warning of negative ones)
    simd::Vec<C, N> best[R];
    simd::Vec<I, N> index[R];
    int64_t at[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      at[r] = std::min(w + r * N, windows - count);
      best[r] = group.begins ? simd::splat<C, N>(kLowest) : simd::load<C, N>(best_.data() + at[r]);
      if constexpr (kHasIndices<Index>)
        index[r] = group.begins ? simd::load<I, N>(windows_.first_tap.data() + at[r]) + simd::splat<I, N>(group.tap[0])
                                : simd::load<I, N>(index_.data() + at[r]);
    }
    for (int i = 0; i < group.count; ++i) {
      const S* line = group.line[i];
      I tap = group.tap[i];
      for (int64_t t = 0; t < o.kernel; ++t, line += o.dilation, ++tap)
#pragma GCC unroll 4
        for (int r = 0; r < R; ++r) {
          const auto value = load_apart<kStride, C, N>(line + at[r] * o.stride, o.stride, count);
          const auto stays = simd::keeps(best[r], value);
          best[r] = stays ? best[r] : value;
          if constexpr (kHasIndices<Index>) index[r] = stays ? index[r] : simd::splat<I, N>(tap);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      if (!group.ends) {
        simd::store<C, N>(best_.data() + at[r], best[r]);
        if constexpr (kHasIndices<Index>) simd::store<I, N>(index_.data() + at[r], index[r]);
      } else if (count == N && to.out_step == 1 && to.index_step == 1) {
        simd::store<C, N>(to.out + at[r], best[r]);
        if constexpr (kHasIndices<Index>) simd::store<I, N>(to.indices + at[r], index[r]);
      } else {
        store_channels<false, C, N>(to.out + at[r] * to.out_step, to.out_step, best[r], count);
        if constexpr (kHasIndices<Index>)
          store_channels<false, I, N>(to.indices + at[r] * to.index_step, to.index_step, index[r], count);
      }
    }
  }

  const EvenWindows<C>& windows_;
  int64_t width_, step_;
  bool direct_;     // rows are read where they are
  int64_t stored_;  // elements of a stored line, those included that a register reads too many
  Scratch<S> lines_;
  Scratch<C> best_;
  Scratch<I> index_;
};

/// `rows`: those of the image that the windows of each row of results read.
template <class S, class Index>
void maxima_of_rows(const Operand& x, const Operand& out, const Operand& indices,
                    const EvenWindows<Compute<S>>& windows, int64_t kernel_height, const Links& rows) {
  constexpr int64_t kWork = 32768;  // of one piece
  const int64_t channels = out.size(1), height = out.size(2), lines = channels * height;
  const int64_t work = out.size(3) * std::min(kWork, kernel_height * std::min(windows.o.kernel, kWork));
  // The neighbors in memory come next: rows of a channel, or channels of a row.
  const bool by_rows = x.stride(1) > x.stride(2);
  parallel_for(x.size(0) * lines, std::max<int64_t>(1, kWork / std::max<int64_t>(1, work)),
               [&](int64_t begin, int64_t end) {
                 const RowMaxima<S, Index> maxima(windows, x.size(3), x.stride(3));
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t n = i / lines, k = i % lines;
                   const int64_t c = by_rows ? k / height : k % channels, h = by_rows ? k % height : k / channels;
                   const Image<S> from(x, n), to(out, n);
                   const Image<Index> where(indices, n);
                   Index* index = nullptr;
                   int64_t index_step = 1;
                   if constexpr (kHasIndices<Index>)
                     index = where.at(h, 0) + c * where.channel, index_step = where.column;
                   maxima.write(from.data + c * from.channel, from.row, rows.begin(h), rows.end(h),
                                to.at(h, 0) + c * to.channel, to.column, index, index_step);
                 }
               });
}

}  // namespace weft::kernels::cpu

// Maxima of windows whose lines are long: a register holds adjacent pixels of one window. No table of pixels is needed,
// which would be as long as the image.
#pragma once

#include "tensor/kernels/cpu/reduce/reduce_ops.h"
#include "tensor/kernels/cpu/window/max_indices.h"

namespace weft::kernels::cpu {

/// The pixels of one window along an axis, and which element of the window the first of them is.
struct WindowPart {
  int64_t begin, end, tap;
};
inline WindowPart part_of_window(const MaxWindows& windows, int64_t i, int64_t inputs, int64_t outputs) {
  if (windows.is_adaptive()) {
    const AxisRange range = shared_range(i, outputs, inputs);
    return {range.begin, range.end, 0};
  }
  const AxisWindows o = windows_of(windows.options, 1);
  const int64_t start = i * o.stride - o.padding, begin = std::clamp<int64_t>(start, 0, inputs);
  return {begin, std::clamp(start + o.kernel, begin, inputs), begin - start};
}

/// Whether registers of windows of one row cost less than registers of channels, of many of them.
inline bool has_row_windows(const Operand& x, const Operand& out, const MaxWindows& windows) {
  constexpr int64_t kFewestWindows = 16;
  const Pool2dOptions& o = windows.options;
  return !windows.is_adaptive() && o.padding.width <= x.size(3) && x.stride(1) != 1 && x.stride(3) == 1 &&
         o.step().width <= 2 && out.size(3) >= kFewestWindows;
}

/// Whether registers of one window's pixels cost less than registers of channels or of windows, which read a pixel of
/// each. Costs are nanoseconds, about, on a Zen 4.
inline bool prefers_wide_windows(const Operand& x, const Operand& out, const MaxWindows& windows) {
  constexpr double kWindow = 45, kLine = 3, kStepped = 12, kTable = 8, kChannelPixel = 8, kEvenPixel = 2;
  constexpr int64_t kLanes = 16;
  const bool few = x.size(1) < kFewChannels, contiguous = x.stride(3) == 1;
  const Pool2dOptions& o = windows.options;
  if ((!contiguous && !few) || o.dilation.width != 1) return false;
  const auto size = [&](int axis) {
    return windows.is_adaptive() ? x.size(2 + axis) / out.size(2 + axis)
                                 : std::min(o.kernel_size[axis], x.size(2 + axis));
  };
  const auto lines = static_cast<double>(size(0)), columns = static_cast<double>(size(1));
  const double of_window = kWindow + lines * (kLine + std::ceil(columns / kLanes) * (contiguous ? 1 : kStepped));
  // Of a register: a pixel each of as many channels or windows.
  const bool rows = few || has_row_windows(x, out, windows);
  double of_register = kChannelPixel;
  if (rows) of_register = o.step().width <= 2 ? kEvenPixel : kStepped;
  if (few && windows.is_adaptive()) of_register = kStepped + kTable;
  const int64_t lanes = rows ? std::min(out.size(3), kLanes) : kLanes;
  return of_window < lines * columns * of_register / static_cast<double>(lanes);
}

/// Reads one window line by line: each lane keeps its largest value and the element it is.
template <class S> class WindowSearch {
  using C = Compute<S>;
  using I = IndexLane<C>;
  static constexpr int N = simd::kLanes<C>;
  using Values = simd::Vec<C, N>;
  using Elements = simd::Vec<I, N>;
  /// Registers of a step: comparing and keeping takes some cycles, in which the others go on.
  static constexpr int kStep = 4;

 public:
  /// `first` is the window's first element, which wins where all are -inf.
  explicit WindowSearch(I first) {
    for (int r = 0; r < kStep; ++r) best_[r] = lowest(), element_[r] = simd::splat<I, N>(first);
    for (int l = 0; l < N; ++l) lane_[l] = static_cast<I>(l);
  }

  /// A line of `count` pixels, `step` apart, or contiguous; the first is the window's element `tap`.
  void look(const S* line, int64_t step, int64_t count, I tap) {
    for (int64_t j = 0; j < count; j += N) look_at_part(line + j * step, step, count - j, tap + static_cast<I>(j));
  }
  void look(const S* line, int64_t count, I tap) {
    int64_t j = 0;
    const auto at = [&](int r) { return tap + static_cast<I>(j + r * N); };
    for (; j + kStep * N <= count; j += kStep * N)
      for (int r = 0; r < kStep; ++r) keep(r, simd::load<C, N>(line + j + r * N), at(r));
#pragma GCC unroll 4
    for (int r = 0; r < kStep - 1; ++r)
      if (j + N <= count) keep(r, simd::load<C, N>(line + j), at(0)), j += N;
    if (j < count) look_at_part(line + j, 1, count - j, at(0));
  }
  struct Found {
    C value;
    I element;
  };
  Found result() {
    for (int r = 1; r < kStep; ++r) {
      const Elements nan = best_[r] != best_[r], nan_here = best_[0] != best_[0];
      const Elements further = (best_[r] > best_[0]) | (nan & ~nan_here);
      const Elements equal = (best_[r] == best_[0]) | (nan & nan_here);
      const Elements wins = (further & ~nan_here) | (equal & (element_[r] < element_[0]));
      best_[0] = wins ? best_[r] : best_[0];
      element_[0] = wins ? element_[r] : element_[0];
    }
    const C value = simd::fold_lanes<ExtremeOp<C, true>, C, N>(best_[0]);  // NaN where there is one
    const Elements equal = value == value ? best_[0] == simd::splat<C, N>(value) : best_[0] != best_[0];
    const Elements candidates = equal ? element_[0] : simd::splat<I, N>(std::numeric_limits<I>::max());
    const I element = simd::fold_lanes<ExtremeOp<I, false>, I, N>(candidates);
    C found = value;  // or the other zero, which that element is
    for (int l = 0; l < N; ++l)
      if (candidates[l] == element) found = best_[0][l];
    return {found, element};
  }

 private:
  static Values lowest() { return simd::splat<C, N>(-std::numeric_limits<C>::infinity()); }
  void look_at_part(const S* line, int64_t step, int64_t left, I tap) {
    const int count = static_cast<int>(std::min<int64_t>(N, left));
    const Values part = load_channels<false, C, N>(line, step, count);
    keep(kStep - 1, simd::first_lanes<C, N>(part, lowest(), count), tap);
  }
  void keep(int r, Values v, I first) {
    const Elements wins = simd::takes_place(v, best_[r]);
    best_[r] = wins ? v : best_[r];
    element_[r] = wins ? simd::splat<I, N>(first) + lane_ : element_[r];
  }

  Values best_[kStep];
  Elements element_[kStep], lane_;
};

/// Reads the window of the rows [a0, a1) and the columns of `line`, of one channel.
template <class S>
typename WindowSearch<S>::Found search_window(const S* channel, int64_t row, int64_t column, const Link* a0,
                                              const Link* a1, const WindowPart& line, int64_t kernel_width) {
  using I = IndexLane<Compute<S>>;
  if (line.begin == line.end) a1 = a0;
  WindowSearch<S> search(a0 != a1 ? static_cast<I>(a0->tap * kernel_width + line.tap) : kPaddingAlone);
  const int64_t count = line.end - line.begin;
  const S* const begin = channel + line.begin * column;
  const auto tap = [&](const Link& a) { return static_cast<I>(a.tap * kernel_width + line.tap); };
  if (column == 1)
    for (const Link* a = a0; a != a1; ++a) search.look(begin + a->at * row, count, tap(*a));
  else
    for (const Link* a = a0; a != a1; ++a) search.look(begin + a->at * row, column, count, tap(*a));
  return search.result();
}

/// `rows`: those that the windows of each row of results read.
template <class S>
void maxima_of_wide_windows(const Operand& x, const Operand& out, const Operand& indices, const MaxWindows& windows,
                            const Links& rows) {
  const int64_t channels = out.size(1), height = out.size(2), width = out.size(3),
                wide = windows.options.kernel_size.width;
  const int64_t pixels = windows.options.kernel_size.height * wide;
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, std::min<int64_t>(pixels, 32768)));
  parallel_for(x.size(0) * channels * height * width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t w = i % width, h = i / width % height, c = i / (width * height) % channels;
      const int64_t n = i / (width * height * channels);
      const Image<S> from(x, n);
      const WindowPart line = part_of_window(windows, w, x.size(3), width);
      const auto found =
          search_window<S>(from.data + c * from.channel, from.row, from.column, rows.begin(h), rows.end(h), line, wide);
      const Image<S> to(out, n);
      to.at(h, w)[c * to.channel] = static_cast<S>(found.value);
      if (indices.defined())
        visit_index_type(indices.dtype, [&]<class Index>() {
          const Image<Index> where(indices, n);
          where.at(h, w)[c * where.channel] = static_cast<Index>(found.element);
        });
    }
  });
}

}  // namespace weft::kernels::cpu

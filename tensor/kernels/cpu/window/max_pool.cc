#include <optional>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/window/few_channels_max.h"
#include "tensor/kernels/cpu/window/long_lines.h"
#include "tensor/kernels/cpu/window/max_rows.h"
#include "tensor/kernels/cpu/window/max_scatter.h"
#include "tensor/kernels/cpu/window/pool_loops.h"
#include "tensor/kernels/cpu/window/wide_windows.h"

namespace weft::kernels::cpu {
namespace {

/// The index of a window before any element is larger than -inf: of its first element, which wins where all are -inf.
int64_t first_index(const Link* a0, const Link* a1, const Link* b0, const Link* b1, int64_t kernel_width) {
  return a0 != a1 && b0 != b1 ? a0->tap * kernel_width + b0->tap : kPaddingAlone;
}

/// One row of results, of contiguous channels; [a0, a1) are the rows of x it reads.
template <class S, bool kIndices>
void line_of_maxima(Image<S> x, const Link* a0, const Link* a1, const Links& columns, int64_t kernel_width,
                    int64_t channels, int64_t width, Image<S> out, IndexImage indices, int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  constexpr int N = simd::kLanes<C>;
  for (int64_t w = 0; w < width; ++w) {
    const Link *b0 = columns.begin(w), *b1 = columns.end(w);
    const auto start = static_cast<I>(first_index(a0, a1, b0, b1, kernel_width));
    for_each_counted_vector<N>(a1 - a0, b1 - b0, channels, [=]<int A, int B, bool kFull>(int64_t c, int count) {
      auto best = simd::splat<C, N>(-std::numeric_limits<C>::infinity());
      auto index = simd::splat<I, N>(start);
      for (const Link* a = a0; a != (A ? a0 + A : a1); ++a)
        for (const Link* b = b0; b != (B ? b0 + B : b1); ++b) {
          const auto value = load_channels<kFull, C, N>(x.at(a->at, b->at) + c, 1, count);
          const auto wins = simd::takes_place(value, best);
          best = wins ? value : best;
          if constexpr (kIndices)
            index = wins ? simd::splat<I, N>(static_cast<I>(a->tap * kernel_width + b->tap)) : index;
        }
      store_channels<kFull, C, N>(out.at(h, w) + c, 1, best, count);
      if constexpr (kIndices)
        indices.visit([&](const auto& to) { store_channels<kFull, I, N>(to.at(h, w) + c, 1, index, count); });
    });
  }
}

/// A window that holds a pixel: its gradient, its index, and the index that means the pixel.
template <class S, class Index> struct HoldingWindow {
  using C = Compute<S>;
  using I = IndexLane<C>;
  static constexpr int N = simd::kLanes<C>;
  const S* grad;
  const Index* index;
  int64_t here;
  HoldingWindow(const Image<S>& grads, const Image<Index>& indices, const Link& a, const Link& b, int64_t kernel_width)
      : grad(grads.at(a.at, b.at)), index(indices.at(a.at, b.at)), here(a.tap * kernel_width + b.tap) {}
  HoldingWindow() = default;
  /// The gradient that channels [c, c + count) of the pixel get.
  template <bool kFull> WEFT_SIMD simd::Vec<C, N> flow(int64_t c, int count) const {
    const auto value = load_channels<kFull, C, N>(grad + c, 1, count);
    const auto tap = load_channels<kFull, I, N>(index + c, 1, count);
    return tap == simd::splat<I, N>(static_cast<I>(here)) ? value : simd::Vec<C, N>{};
  }
};

/// Calls f.operator()<A, B>() for the numbers of windows that hold a pixel in a column and in a row, where windows are
/// small: as with_counts(), and 1 x 2 and 2 x 1, of windows of three that begin at every second pixel.
template <class Index, class F> void with_windows(int64_t rows, int64_t columns, const F& f) {
  if constexpr (std::is_same_v<Index, int32_t>) return f.template operator()<0, 0>();
  if (rows == 1 && columns == 2) return f.template operator()<1, 2>();
  if (rows == 2 && columns == 1) return f.template operator()<2, 1>();
  with_counts(rows, columns, f);
}

/// One row of the gradient, of contiguous channels; [a0, a1) are the rows of windows that hold it. Each pixel collects
/// from the windows that hold it, so that no two threads write to one element.
template <class S, class Index>
void line_of_gradient(Image<S> grad, Image<Index> indices, const Link* a0, const Link* a1, const Links& columns,
                      int64_t kernel_width, int64_t channels, int64_t width, Image<S> grad_x, int64_t h) {
  using C = Compute<S>;
  using Window = HoldingWindow<S, Index>;
  constexpr int N = simd::kLanes<C>;
  const int64_t full = channels / N * N;
  for (int64_t w = 0; w < width; ++w) {
    const Link *b0 = columns.begin(w), *b1 = columns.end(w);
    const auto collect = [=]<bool kFull>(int64_t c, int count) {
      simd::Vec<C, N> sum{};
      for (const Link* a = a0; a != a1; ++a)
        for (const Link* b = b0; b != b1; ++b)
          sum += Window(grad, indices, *a, *b, kernel_width).template flow<kFull>(c, count);
      store_channels<kFull, C, N>(grad_x.at(h, w) + c, 1, sum, count);
    };
    if (full > 0)
      with_windows<Index>(a1 - a0, b1 - b0, [=]<int A, int B>() {
        if constexpr (A == 0) {
          for (int64_t c = 0; c < full; c += N) collect.template operator()<true>(c, N);
        } else {
          Window windows[A * B];
#pragma GCC unroll 9
          for (int i = 0; i < A * B; ++i) windows[i] = Window(grad, indices, a0[i / B], b0[i % B], kernel_width);
          for (int64_t c = 0; c < full; c += N) {
            simd::Vec<C, N> sum{};
#pragma GCC unroll 9
            for (int i = 0; i < A * B; ++i) sum += windows[i].template flow<true>(c, N);
            simd::store<C, N>(grad_x.at(h, w) + c, sum);
          }
        }
      });
    if (full < channels) collect.template operator()<false>(full, static_cast<int>(channels - full));
  }
}

/// One row of windows that tile the image, of contiguous channels: each hands its gradient to one of its pixels and 0
/// to the others, so that gradients and indices are read once.
template <class S, class Index>
void line_of_tiles(Image<S> grad, Image<Index> indices, Size2 window, int64_t channels, int64_t width, Image<S> grad_x,
                   int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  constexpr int N = simd::kLanes<C>;
  const int64_t rows = window.height, columns = window.width, full = channels / N * N;
  const auto hand = [=]<int A, int B, bool kFull>(int64_t w, int64_t c, int count) {
    const auto value = load_channels<kFull, C, N>(grad.at(h, w) + c, 1, count);
    const auto index = load_channels<kFull, I, N>(indices.at(h, w) + c, 1, count);
    for (int64_t a = 0; a < (A ? A : rows); ++a)
      for (int64_t b = 0; b < (B ? B : columns); ++b) {
        const auto here = index == simd::splat<I, N>(static_cast<I>(a * (B ? B : columns) + b));
        S* to = grad_x.at(h * (A ? A : rows) + a, w * (B ? B : columns) + b) + c;
        store_channels<kFull, C, N>(to, 1, here ? value : simd::Vec<C, N>{}, count);
      }
  };
  with_counts(rows, columns, [=]<int A, int B>() {
    for (int64_t w = 0; w < width; ++w)
      for (int64_t c = 0; c < full; c += N) hand.template operator()<A, B, true>(w, c, N);
  });
  for (int64_t w = 0; full < channels && w < width; ++w)
    hand.template operator()<0, 0, false>(w, full, static_cast<int>(channels - full));
}

/// The maxima of images turned to channels-last, band by band.
template <class S, bool kIndices>
void channels_last_maxima(const Operand& x, const Operand& out, const Operand& indices, const Size2& kernel,
                          const Links& rows, const Links& columns) {
  for_each_band(out, image_bytes(x), [&](int64_t n, const RowRange& band) {
    const ChannelsLastRows from(x, linked_rows(rows, band)), to(out, band);
    std::optional<ChannelsLastRows> where;
    if constexpr (kIndices) where.emplace(indices, band);
    from.read(x, n);
    for (int64_t h = band.begin; h < band.end; ++h)
      line_of_maxima<S, kIndices>(from.as<S>(), rows.begin(h), rows.end(h), columns, kernel.width, out.size(1),
                                  out.size(3), to.as<S>(), where ? IndexImage(*where, indices.dtype) : IndexImage(), h);
    to.write(out, n);
    if (where) where->write(indices, n);
  });
}

/// The links of an axis of pixels, from windows or from pixels.
Links links_of_windows(const MaxWindows& w, int axis, int64_t inputs, int64_t outputs) {
  return w.is_adaptive() ? Links::of_shares(inputs, outputs)
                         : Links::of_windows(windows_of(w.options, axis), inputs, outputs);
}
Links links_of_pixels(const MaxWindows& w, int axis, int64_t inputs, int64_t outputs) {
  return w.is_adaptive() ? Links::of_shared_pixels(inputs, outputs)
                         : Links::of_pixels(windows_of(w.options, axis), inputs, outputs);
}

/// Whether registers hold windows of one row. Elements that lie more than two apart are loaded one by one, as many as a
/// register holds: not for fewer windows.
bool prefers_rows(const Operand& x, const Operand& out, const MaxWindows& windows) {
  const Pool2dOptions& o = windows.options;
  if (x.size(1) >= kFewChannels) return has_row_windows(x, out, windows);
  if (windows.is_adaptive() || o.padding.width > x.size(3)) return false;
  return o.step().width <= 2 || out.size(3) >= compute_lanes(x.dtype);
}

/// The maxima of images whose channels are contiguous, and of images of few channels, row by row.
template <class S, bool kIndices>
void maxima_of_channels(const Operand& x, const Operand& out, const Operand& indices, const Size2& kernel,
                        const Links& rows, const Links& columns) {
  for_each_row(out.shape(), kernel.height * kernel.width, [&](int64_t n, int64_t h) {
    line_of_maxima<S, kIndices>(Image<S>(x, n), rows.begin(h), rows.end(h), columns, kernel.width, out.size(1),
                                out.size(3), Image<S>(out, n), IndexImage(indices, n), h);
  });
}
template <class S, bool kIndices>
void maxima_of_few_channels(const Operand& x, const Operand& out, const Operand& indices, const Size2& kernel,
                            const Links& rows, const Links& columns) {
  const WindowColumns<Compute<S>> few(columns, out.size(3));
  for_each_row(out.shape(), kernel.height * kernel.width, [&](int64_t n, int64_t h) {
    line_of_few_channels<S, kIndices>(Image<S>(x, n), rows.begin(h), rows.end(h), few, kernel.width, out.size(1),
                                      x.size(3), Image<S>(out, n), IndexImage(indices, n), h);
  });
}

/// The maxima of all windows, and their indices if those are defined.
void maxima(const Operand& x, const Operand& out, const Operand& indices, const MaxWindows& windows) {
  const Size2 kernel = windows.options.kernel_size;
  const Links rows = links_of_windows(windows, 0, x.size(2), out.size(2));
  if (prefers_wide_windows(x, out, windows))
    return visit_floating(out.dtype, [&]<class S>() { maxima_of_wide_windows<S>(x, out, indices, windows, rows); });
  const Links columns = links_of_windows(windows, 1, x.size(3), out.size(3));
  const auto is_contiguous = [](const Operand& images) { return !images.defined() || images.stride(1) == 1; };
  const bool by_rows = prefers_rows(x, out, windows);
  const bool few = x.size(1) < kFewChannels && x.size(3) <= std::numeric_limits<int32_t>::max();
  const bool contiguous = is_contiguous(x) && is_contiguous(out) && is_contiguous(indices);
  visit_maxima(out, indices, [&]<class S, bool kIndices>() {
    if (by_rows)
      maxima_of_rows<S, kIndices>(x, out, indices, {windows_of(windows.options, 1), columns, out.size(3)},
                                  kernel.height, rows);
    else if (few)
      maxima_of_few_channels<S, kIndices>(x, out, indices, kernel, rows, columns);
    else if (contiguous)
      maxima_of_channels<S, kIndices>(x, out, indices, kernel, rows, columns);
    else
      channels_last_maxima<S, kIndices>(x, out, indices, kernel, rows, columns);
  });
}

/// f.operator()<S, Index>() with the types of values and of indices.
template <class F> void visit_both(const Operand& values, const Operand& indices, const F& f) {
  visit_floating(values.dtype, [&]<class S>() {
    visit_index_type(indices.dtype, [&]<class Index>() { f.template operator()<S, Index>(); });
  });
}

void max_gradient(const Operand& grad, const Operand& indices, const Operand& grad_x, const MaxWindows& windows) {
  const Size2 kernel = windows.options.kernel_size;
  if (grad_x.stride(1) != 1 || grad.stride(1) != 1 || indices.stride(1) != 1)
    return visit_floating(grad_x.dtype, [&]<class S>() { gradient_by_channels<S>(grad, indices, grad_x, windows); });
  if (windows_tile(windows, 0, grad_x.size(2), grad.size(2)) && windows_tile(windows, 1, grad_x.size(3), grad.size(3)))
    return visit_both(grad_x, indices, [&]<class S, class Index>() {
      for_each_row(grad.shape(), kernel.height * kernel.width, [&](int64_t n, int64_t h) {
        line_of_tiles<S, Index>(Image<S>(grad, n), Image<Index>(indices, n), kernel, grad.size(1), grad.size(3),
                                Image<S>(grad_x, n), h);
      });
    });
  if (prefers_blocks(grad, grad_x, windows))
    return visit_floating(grad_x.dtype, [&]<class S>() { gradient_by_blocks<S>(grad, indices, grad_x, windows); });
  const Links rows = links_of_pixels(windows, 0, grad_x.size(2), grad.size(2));
  const Links columns = links_of_pixels(windows, 1, grad_x.size(3), grad.size(3));
  visit_both(grad_x, indices, [&]<class S, class Index>() {
    for_each_row(grad_x.shape(), 2, [&](int64_t n, int64_t h) {
      line_of_gradient<S, Index>(Image<S>(grad, n), Image<Index>(indices, n), rows.begin(h), rows.end(h), columns,
                                 kernel.width, grad_x.size(1), grad_x.size(3), Image<S>(grad_x, n), h);
    });
  });
}

/// Each window's element of x at its index.
template <class S, class Index>
void gather(const Operand& x, const Operand& indices, const Operand& out, const MaxWindows& windows) {
  const Starts starts(windows, x, out);
  const Size2 kernel = windows.options.kernel_size, dilation = windows.options.dilation;
  for_each_row(out.shape(), 1, [&](int64_t n, int64_t h) {
    const Image<S> from(x, n), to(out, n);
    const Image<Index> index(indices, n);
    for (int64_t w = 0; w < out.size(3); ++w)
      for (int64_t c = 0; c < out.size(1); ++c) {
        const Index at = index.at(h, w)[c * index.channel];
        const int64_t i = starts.rows[static_cast<size_t>(h)] + at / kernel.width * dilation.height;
        const int64_t j = starts.columns[static_cast<size_t>(w)] + at % kernel.width * dilation.width;
        to.at(h, w)[c * to.channel] = at == kNoIndex<Index> ? S{} : from.at(i, j)[c * from.channel];
      }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// Padding counts as -inf; a NaN in a window is the result, and its first one the index.
void op::MaxPool2d::cpu(const Operand& x, const Operand& out, const Operand& indices) const {
  if (out.numel() == 0) return;
  const auto pool = [&](const Operand& from, const auto& to, const Pool2dOptions& o) {
    MaxWindows part = windows;
    part.options = o;
    maxima(from, to[0], to[1], part);
  };
  const std::array outs = {out, with_indices ? indices : Operand()};
  if (windows.is_adaptive() || !pool_in_blocks(x, outs, windows.options, pool)) pool(x, outs, windows.options);
}

void op::MaxPool2dBackward::cpu(const Operand& g, const Operand& indices, const Operand& out) const {
  if (out.numel() == 0) return;
  max_gradient(g, indices, out, windows);
}

void op::MaxPool2dGather::cpu(const Operand& x, const Operand& indices, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_index_type(indices.dtype, [&]<class Index>() {
    visit_word(out.dtype, [&]<class S>() { gather<S, Index>(x, indices, out, windows); });
  });
}

}  // namespace weft

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/window/few_channels_max.h"
#include "tensor/kernels/cpu/window/long_lines.h"
#include "tensor/kernels/cpu/window/max_rows.h"
#include "tensor/kernels/cpu/window/max_scatter.h"
#include "tensor/kernels/cpu/window/pool_loops.h"
#include "tensor/kernels/cpu/window/wide_windows.h"

namespace weft::kernels::cpu {
namespace {

/// Calls f.operator()<Index>().
template <class F> void visit_index_type(DType dtype, F&& f) {
  if (dtype == DType::u8) return f.template operator()<uint8_t>();
  if (dtype == DType::i32) return f.template operator()<int32_t>();
  throw DtypeError(text("indices of max_pool2d are u8 or i32, not ", dtype));
}

/// with_counts() for windows that may have so few rows and columns: not those of more than 255 elements, whose indices
/// are i32.
template <class Index, class F> void with_counts_of(int64_t rows, int64_t columns, const F& f) {
  if constexpr (std::is_same_v<Index, int32_t>)
    f.template operator()<0, 0>();
  else
    with_counts(rows, columns, f);
}

/// The index of a window before any element is larger than -inf: of its first element, which wins where all are -inf.
template <class Index, class I>
I first_index(const Link* a0, const Link* a1, const Link* b0, const Link* b1, int64_t kernel_width) {
  if constexpr (kHasIndices<Index>)
    return a0 != a1 && b0 != b1 ? static_cast<I>(a0->tap * kernel_width + b0->tap) : static_cast<I>(kNoIndex<Index>);
  return 0;
}

/// One row of results; [a0, a1) are the rows of x it reads.
template <class S, class Index>
void line_of_maxima(Image<S> x, const Link* a0, const Link* a1, const Links& columns, int64_t kernel_width,
                    int64_t channels, int64_t width, Image<S> out, Image<Index> indices, int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  constexpr int N = simd::kLanes<C>;
  const bool contiguous = x.channel == 1 && out.channel == 1 && indices.channel == 1;
  for (int64_t w = 0; w < width; ++w) {
    const Link *b0 = columns.begin(w), *b1 = columns.end(w);
    const I start = first_index<Index, I>(a0, a1, b0, b1, kernel_width);
    with_counts_of<Index>(a1 - a0, b1 - b0, [=]<int A, int B>() {
      for_each_vector<N>(channels, contiguous, [=]<bool kFull>(int64_t c, int count) {
        auto best = simd::splat<C, N>(-std::numeric_limits<C>::infinity());
        auto index = simd::splat<I, N>(start);
        for (const Link* a = a0; a != (A ? a0 + A : a1); ++a)
          for (const Link* b = b0; b != (B ? b0 + B : b1); ++b) {
            const auto value = load_channels<kFull, C, N>(x.at(a->at, b->at) + c * x.channel, x.channel, count);
            const auto wins = simd::takes_place(value, best);
            best = wins ? value : best;
            if constexpr (kHasIndices<Index>)
              index = wins ? simd::splat<I, N>(static_cast<I>(a->tap * kernel_width + b->tap)) : index;
          }
        store_channels<kFull, C, N>(out.at(h, w) + c * out.channel, out.channel, best, count);
        if constexpr (kHasIndices<Index>)
          store_channels<kFull, I, N>(indices.at(h, w) + c * indices.channel, indices.channel, index, count);
      });
    });
  }
}

/// Calls f.operator()<A, B>() for the numbers of windows that hold a pixel in a column and in a row: also 1 x 2 and
/// 2 x 1, of windows of three that begin at every second pixel.
template <class Index, class F> void with_windows_of(int64_t rows, int64_t columns, const F& f) {
  if constexpr (std::is_same_v<Index, uint8_t>) {
    if (rows == 1 && columns == 2) return f.template operator()<1, 2>();
    if (rows == 2 && columns == 1) return f.template operator()<2, 1>();
  }
  with_counts_of<Index>(rows, columns, f);
}

/// A window that holds a pixel: its gradient, its index, and the index that means the pixel.
template <class S, class Index> struct HoldingWindow {
  const S* grad;
  const Index* index;
  int64_t here;
  HoldingWindow(const Image<S>& grads, const Image<Index>& indices, const Link& a, const Link& b, int64_t kernel_width)
      : grad(grads.at(a.at, b.at)), index(indices.at(a.at, b.at)), here(a.tap * kernel_width + b.tap) {}
  HoldingWindow() = default;
};

/// One row of the gradient; [a0, a1) are the rows of windows that hold it. Each pixel collects from the windows
/// that hold it, so that no two threads write to one element.
template <class S, class Index>
void line_of_gradient(Image<S> grad, Image<Index> indices, const Link* a0, const Link* a1, const Links& columns,
                      int64_t kernel_width, int64_t channels, int64_t width, Image<S> grad_x, int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  using Window = HoldingWindow<S, Index>;
  constexpr int N = simd::kLanes<C>;
  const bool contiguous = grad.channel == 1 && indices.channel == 1 && grad_x.channel == 1;
  const auto add = [=]<bool kFull>(const Window& from, int64_t c, int count, simd::Vec<C, N>& sum) {
    const auto value = load_channels<kFull, C, N>(from.grad + c * grad.channel, grad.channel, count);
    const auto index = load_channels<kFull, I, N>(from.index + c * indices.channel, indices.channel, count);
    sum += index == simd::splat<I, N>(static_cast<I>(from.here)) ? value : simd::Vec<C, N>{};
  };
  for (int64_t w = 0; w < width; ++w) {
    const Link *b0 = columns.begin(w), *b1 = columns.end(w);
    with_windows_of<Index>(a1 - a0, b1 - b0, [=]<int A, int B>() {
      Window windows[A * B + 1];
      if constexpr (A > 0)
        for (int i = 0; i < A * B; ++i) windows[i] = Window(grad, indices, a0[i / B], b0[i % B], kernel_width);
      for_each_vector<N>(channels, contiguous, [&]<bool kFull>(int64_t c, int count) {
        simd::Vec<C, N> sum{};
        if constexpr (A > 0)
#pragma GCC unroll 9
          for (int i = 0; i < A * B; ++i) add.template operator()<kFull>(windows[i], c, count, sum);
        else
          for (const Link* a = a0; a != a1; ++a)
            for (const Link* b = b0; b != b1; ++b)
              add.template operator()<kFull>(Window(grad, indices, *a, *b, kernel_width), c, count, sum);
        store_channels<kFull, C, N>(grad_x.at(h, w) + c * grad_x.channel, grad_x.channel, sum, count);
      });
    });
  }
}

/// One row of windows that tile the image: each hands its gradient to one of its pixels and 0 to the others, so that
/// gradients and indices are read once.
template <class S, class Index>
void line_of_tiles(Image<S> grad, Image<Index> indices, Size2 window, int64_t channels, int64_t width, Image<S> grad_x,
                   int64_t h) {
  using C = Compute<S>;
  using I = IndexLane<C>;
  constexpr int N = simd::kLanes<C>;
  const bool contiguous = grad.channel == 1 && indices.channel == 1 && grad_x.channel == 1;
  const int64_t rows = window.height, columns = window.width;
  with_counts_of<Index>(rows, columns, [=]<int A, int B>() {
    for (int64_t w = 0; w < width; ++w)
      for_each_vector<N>(channels, contiguous, [=]<bool kFull>(int64_t c, int count) {
        const auto value = load_channels<kFull, C, N>(grad.at(h, w) + c * grad.channel, grad.channel, count);
        const auto index = load_channels<kFull, I, N>(indices.at(h, w) + c * indices.channel, indices.channel, count);
        for (int64_t a = 0; a < (A ? A : rows); ++a)
          for (int64_t b = 0; b < (B ? B : columns); ++b) {
            const auto here = index == simd::splat<I, N>(static_cast<I>(a * (B ? B : columns) + b));
            S* to = grad_x.at(h * (A ? A : rows) + a, w * (B ? B : columns) + b) + c * grad_x.channel;
            store_channels<kFull, C, N>(to, grad_x.channel, here ? value : simd::Vec<C, N>{}, count);
          }
      });
  });
}

template <class S, class Index>
void channels_last_maxima(const Operand& x, const Operand& out, const Operand& indices, const Size2& kernel,
                          const Links& rows, const Links& columns) {
  for_each_band(out, image_bytes<S>(x), [&](int64_t n, const RowRange& band) {
    const ChannelsLastRows<S> from(x, linked_rows(rows, band)), to(out, band);
    const ChannelsLastRows<Index> where(indices, kHasIndices<Index> ? band : RowRange{0, 0});
    from.read(Image<S>(x, n));
    for (int64_t h = band.begin; h < band.end; ++h)
      line_of_maxima<S, Index>(*from, rows.begin(h), rows.end(h), columns, kernel.width, out.size(1), out.size(3), *to,
                               *where, h);
    to.write(Image<S>(out, n));
    if constexpr (kHasIndices<Index>) where.write(Image<Index>(indices, n));
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
template <class C> bool prefers_rows(const Operand& x, const Operand& out, const MaxWindows& windows) {
  const Pool2dOptions& o = windows.options;
  if (x.size(1) >= kFewChannels) return has_row_windows(x, out, windows);
  if (windows.is_adaptive() || o.padding.width > x.size(3)) return false;
  return o.step().width <= 2 || out.size(3) >= simd::kLanes<C>;
}

template <class S, class Index>
void maxima(const Operand& x, const Operand& out, const Operand& indices, const MaxWindows& windows) {
  const Size2 kernel = windows.options.kernel_size;
  const Links rows = links_of_windows(windows, 0, x.size(2), out.size(2));
  if (prefers_wide_windows(x, out, windows)) return maxima_of_wide_windows<S, Index>(x, out, indices, windows, rows);
  const Links columns = links_of_windows(windows, 1, x.size(3), out.size(3));
  if (prefers_rows<Compute<S>>(x, out, windows))
    return maxima_of_rows<S, Index>(x, out, indices, {windows_of(windows.options, 1), columns, out.size(3)},
                                    kernel.height, rows);
  if (x.size(1) < kFewChannels && x.size(3) <= std::numeric_limits<int32_t>::max()) {
    const WindowColumns<Compute<S>> few(columns, out.size(3));
    return for_each_row(out.shape(), kernel.height * kernel.width, [&](int64_t n, int64_t h) {
      line_of_few_channels<S, Index>(Image<S>(x, n), rows.begin(h), rows.end(h), few, kernel.width, out.size(1),
                                     x.size(3), Image<S>(out, n), Image<Index>(indices, n), h);
    });
  }
  if (should_copy_to_channels_last(x)) return channels_last_maxima<S, Index>(x, out, indices, kernel, rows, columns);
  for_each_row(out.shape(), kernel.height * kernel.width, [&](int64_t n, int64_t h) {
    line_of_maxima<S, Index>(Image<S>(x, n), rows.begin(h), rows.end(h), columns, kernel.width, out.size(1),
                             out.size(3), Image<S>(out, n), Image<Index>(indices, n), h);
  });
}

template <class S, class Index>
void max_gradient(const Operand& grad, const Operand& indices, const Operand& grad_x, const MaxWindows& windows) {
  const Size2 kernel = windows.options.kernel_size;
  if (grad_x.stride(1) != 1 || grad.stride(1) != 1 || indices.stride(1) != 1)
    return gradient_by_channels<S, Index>(grad, indices, grad_x, windows);
  if (windows_tile(windows, 0, grad_x.size(2), grad.size(2)) && windows_tile(windows, 1, grad_x.size(3), grad.size(3)))
    return for_each_row(grad.shape(), kernel.height * kernel.width, [&](int64_t n, int64_t h) {
      line_of_tiles<S, Index>(Image<S>(grad, n), Image<Index>(indices, n), kernel, grad.size(1), grad.size(3),
                              Image<S>(grad_x, n), h);
    });
  if (prefers_blocks<Compute<S>>(grad, grad_x, windows))
    return gradient_by_blocks<S, Index>(grad, indices, grad_x, windows);
  const Links rows = links_of_pixels(windows, 0, grad_x.size(2), grad.size(2));
  const Links columns = links_of_pixels(windows, 1, grad_x.size(3), grad.size(3));
  for_each_row(grad_x.shape(), 2, [&](int64_t n, int64_t h) {
    line_of_gradient<S, Index>(Image<S>(grad, n), Image<Index>(indices, n), rows.begin(h), rows.end(h), columns,
                               kernel.width, grad_x.size(1), grad_x.size(3), Image<S>(grad_x, n), h);
  });
}

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

/// Calls f.operator()<S, Index>() with the element type of values and the type of indices.
template <class F> void visit_both(const Operand& values, const Operand& indices, F&& f) {
  visit_floating(values.dtype, [&]<class S>() {
    visit_index_type(indices.dtype, [&]<class Index>() { f.template operator()<S, Index>(); });
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// Padding counts as -inf; a NaN in a window is the result, and its first one the index.
void op::MaxPool2d::cpu(const Operand& x, const Operand& out, const Operand& indices) const {
  if (out.numel() == 0) return;
  const auto run = [&]<class S, class Index>(const auto& outs) {
    const auto pool = [&](const Operand& from, const auto& to, const Pool2dOptions& o) {
      MaxWindows part = windows;
      part.options = o;
      maxima<S, Index>(from, to.front(), to.back(), part);
    };
    if (windows.is_adaptive() || !pool_in_blocks(x, outs, windows.options, pool)) pool(x, outs, windows.options);
  };
  if (with_indices)
    visit_both(out, indices, [&]<class S, class Index>() {
      run.template operator()<S, Index>(std::array{out, indices});
    });
  else
    visit_floating(out.dtype, [&]<class S>() { run.template operator()<S, NoIndices>(std::array{out}); });
}

void op::MaxPool2dBackward::cpu(const Operand& g, const Operand& indices, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_both(out, indices, [&]<class S, class Index>() { max_gradient<S, Index>(g, indices, out, windows); });
}

void op::MaxPool2dGather::cpu(const Operand& x, const Operand& indices, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_both(out, indices, [&]<class S, class Index>() { gather<S, Index>(x, indices, out, windows); });
}

}  // namespace weft

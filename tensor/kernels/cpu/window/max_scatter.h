// Gradients of max pools, window after window: each adds its gradient to the pixel that it took.
#pragma once

#include <vector>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/window/max_indices.h"

namespace weft::kernels::cpu {

/// Where the windows of both axes begin.
struct Starts {
  std::vector<int64_t> rows, columns;
  Starts(const MaxWindows& w, const Operand& image, const Operand& windows)
      : rows(w.starts(0, image.size(2), windows.size(2))), columns(w.starts(1, image.size(3), windows.size(3))) {}
};

/// How far the pixel that an index names is from the window's first one, in an image that is dense. A table, unless it
/// would have more entries than are looked up.
class TapOffsets {
 public:
  TapOffsets(const Pool2dOptions& o, int64_t width, int64_t lookups)
      : kernel_width_(o.kernel_size.width),
        down_(o.dilation.height * width),
        across_(o.dilation.width),
        table_(o.kernel_size.height * kernel_width_ <= lookups ? o.kernel_size.height * kernel_width_ : 0) {
    for (int64_t i = 0; table_.data() != nullptr && i < o.kernel_size.height * kernel_width_; ++i)
      table_.data()[i] = find(i);
  }
  int64_t operator[](int64_t index) const { return table_.data() != nullptr ? table_.data()[index] : find(index); }

 private:
  int64_t find(int64_t index) const { return index / kernel_width_ * down_ + index % kernel_width_ * across_; }
  int64_t kernel_width_, down_, across_;
  Scratch<int64_t> table_;
};

/// The gradient of one channel of an image: each window adds to the pixel it took, one after the other, as a channel is
/// one thread's. `to` is dense. (noinline: within its caller, g++ 12 keeps too little of it in registers.)
template <class S, class Index, class C>
[[gnu::noinline]] void scatter_channel(const Image<S>& grad, const Image<Index>& indices, const Starts& starts,
                                       int64_t width, const TapOffsets& offsets, C* to) {
  const auto rows = std::ssize(starts.rows), columns = std::ssize(starts.columns);
  const int64_t* const column = starts.columns.data();
  for (int64_t h = 0; h < rows; ++h) {
    const S* g = grad.at(h, 0);
    const Index* index = indices.at(h, 0);
    const int64_t row = starts.rows[static_cast<size_t>(h)] * width;
    for (int64_t w = 0; w < columns; ++w)
      if (const Index at = index[w * indices.column]; at != kNoIndex<Index>)
        to[row + column[w] + offsets[at]] += static_cast<C>(g[w * grad.column]);
  }
}

/// Channels that are not contiguous, one by one.
template <class S>
void gradient_by_channels(const Operand& grad, const Operand& indices, const Operand& grad_x,
                          const MaxWindows& windows) {
  using C = Compute<S>;
  const int64_t channels = grad_x.size(1), height = grad_x.size(2), width = grad_x.size(3), pixels = height * width;
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, pixels));
  const Starts starts(windows, grad_x, grad);
  const Pool2dOptions& o = windows.options;
  const TapOffsets offsets(o, width, grad.numel());
  const bool dense = grad_x.stride(3) == 1 && grad_x.stride(2) == width, direct = std::is_same_v<S, C> && dense;
  parallel_for(grad_x.size(0) * channels, grain, [&](int64_t begin, int64_t end) {
    const Scratch<C> sums(direct ? 0 : pixels);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / channels, c = i % channels;
      Image<S> from(grad, n), out(grad_x, n);
      from.data += c * from.channel, out.data += c * out.channel;
      C* to = sums.data();
      if constexpr (std::is_same_v<S, C>)
        if (direct) to = out.data;
      std::fill_n(to, pixels, C{});
      IndexImage(indices, n).visit([&](auto where) {
        where.data += c * where.channel;
        scatter_channel(from, where, starts, width, offsets, to);
      });
      if (direct) continue;
      if constexpr (is_half<S>)
        if (dense) {
          narrow(to, out.data, pixels);
          continue;
        }
      for (int64_t h = 0; h < height; ++h)
        for (int64_t w = 0; w < width; ++w) *out.at(h, w) = static_cast<S>(to[h * width + w]);
    }
  });
}

/// The gradient of `block` contiguous channels of an image from channel c on, as in scatter_channel(); `to` is (pixels,
/// block). The last window comes first: a pixel's sum is added up in the order of line_of_gradient().
/// (noinline: as scatter_channel().)
template <class S, class Index, class C>
[[gnu::noinline]] void scatter_block(const Image<S>& grad, const Image<Index>& indices, const Starts& starts,
                                     int64_t width, const TapOffsets& offsets, int64_t c, int64_t block, C* to) {
  const auto rows = std::ssize(starts.rows), columns = std::ssize(starts.columns);
  for (int64_t h = rows - 1; h >= 0; --h)
    for (int64_t w = columns - 1; w >= 0; --w) {
      const S* const g = grad.at(h, w) + c;
      const Index* const index = indices.at(h, w) + c;
      const int64_t first = starts.rows[static_cast<size_t>(h)] * width + starts.columns[static_cast<size_t>(w)];
      for (int64_t i = 0; i < block; ++i)
        if (const Index at = index[i]; at != kNoIndex<Index>)
          to[(first + offsets[at]) * block + i] += static_cast<C>(g[i]);
    }
}

/// Contiguous channels, as many at a time as stay in the cache, but no fewer than these.
inline constexpr int64_t kBlockChannels = 64;
template <class S>
void gradient_by_blocks(const Operand& grad, const Operand& indices, const Operand& grad_x, const MaxWindows& windows) {
  using C = Compute<S>;
  constexpr int64_t kCached = int64_t{1} << 18;
  const int64_t channels = grad_x.size(1), height = grad_x.size(2), width = grad_x.size(3), pixels = height * width;
  const int64_t most =
      std::max(kBlockChannels, kCached / int64_t{sizeof(C)} / pixels / kBlockChannels * kBlockChannels);
  const int64_t blocks = ceil_div(channels, most);
  const int64_t grain = std::max<int64_t>(1, 16384 / (pixels * channels));
  const Starts starts(windows, grad_x, grad);
  const TapOffsets offsets(windows.options, width, grad.numel());
  const bool whole = grad_x.stride(2) == width * grad_x.stride(3);
  const bool direct = std::is_same_v<S, C> && whole && blocks == 1 && grad_x.stride(3) == channels;
  parallel_for(grad_x.size(0) * blocks, grain, [&](int64_t begin, int64_t end) {
    const Scratch<C> sums(direct ? 0 : pixels * std::min(channels, most));
    for (int64_t k = begin; k < end; ++k) {
      const int64_t n = k / blocks, c = k % blocks * most, block = std::min(most, channels - c);
      const Image<S> out(grad_x, n);
      C* to = sums.data();
      if constexpr (std::is_same_v<S, C>)
        if (direct) to = out.data;
      std::fill_n(to, pixels * block, C{});
      IndexImage(indices, n).visit([&](const auto& where) {
        scatter_block(Image<S>(grad, n), where, starts, width, offsets, c, block, to);
      });
      if (direct) continue;
      const int64_t rows = whole ? 1 : height, columns = pixels / rows;
      for (int64_t h = 0; h < rows; ++h)
        copy_matrix_serial<C, S>({to + h * columns * block, columns, block, block, 1},
                                 {out.at(h, 0) + c, columns, block, out.column, 1});
    }
  });
}

/// Whether adding the gradient of each window to its pixel, an image on one thread, costs less than collecting, for
/// registers of channels of a pixel, those of all windows that hold it. Costs are nanoseconds of a pixel, about, on a
/// Zen 3.
inline bool prefers_blocks(const Operand& grad, const Operand& grad_x, const MaxWindows& windows) {
  constexpr double kAdd = 2.2, kWrite = 0.3, kPixel = 8, kRegister = 1, kPart = 6;
  constexpr int64_t kMost = int64_t{1} << 20;  // elements of the memory of a thread
  const int64_t channels = grad_x.size(1), lanes = compute_lanes(grad_x.dtype);
  if (!divides_by_images(grad_x.size(0)) ||
      grad_x.size(2) * grad_x.size(3) > kMost / std::min(channels, kBlockChannels))
    return false;
  const double pixels = static_cast<double>(grad_x.size(2) * grad_x.size(3));
  const double held = static_cast<double>(grad.size(2) * grad.size(3)) / pixels;
  const Size2 kernel = windows.options.kernel_size;
  const double holding = held * static_cast<double>(std::min(kernel.height, grad_x.size(2))) *
                         static_cast<double>(std::min(kernel.width, grad_x.size(3)));
  const double of_registers = static_cast<double>(channels / lanes) * kRegister + (channels % lanes == 0 ? 0 : kPart);
  return static_cast<double>(channels) * (held * kAdd + kWrite) < kPixel + holding * of_registers;
}

}  // namespace weft::kernels::cpu

// Images and volumes of fewer channels than a register holds, read at the points of a grid: registers hold points. For
// any strides.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/window/grid_sample_taps.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu::grid {

/// One channel of an operand (N, C, D, H, W).
template <class S> S* channel_of(const Operand& x, int64_t n, int64_t c) {
  return x.data<S>() + n * x.stride(0) + c * x.stride(1);
}
inline PixelSteps steps_of(const Operand& x) { return {x.stride(2), x.stride(3), x.stride(4)}; }

/// Whether the points of a channel lie one step apart, and a channel's offsets fit 32 bits.
inline bool lies_in_steps(const Operand& x) {
  return (x.size(3) == 1 || x.stride(3) == x.size(4) * x.stride(4)) &&
         (x.size(2) == 1 || x.stride(2) == x.size(3) * x.size(4) * x.stride(4));
}
inline bool has_short_offsets(const Operand& x) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 2;  // numbers of pixels, and those beside them, too
  int64_t reach = 0;
  for (int64_t axis = 2; axis < 5; ++axis) reach += x.size(axis) * std::abs(x.stride(axis));
  return std::max({x.size(2), x.size(3), x.size(4), reach}) < kMost;
}

/// The K x K pixels of each of D planes (0: of an image) that a block of points reads: pixel (d K + i) K + j is plane
/// d, row i, column j.
template <class T, int K, int D> struct Pixels {
  static constexpr int kPlanes = std::max(D, 1), kCount = kPlanes * K * K;
  static constexpr int kAxes = D > 0 ? 3 : 2;
  static constexpr int64_t kBlock = Neighbors<T, K>::kBlock;
  static constexpr int32_t kOutside = std::numeric_limits<int32_t>::min();  // further than any pixel
  Neighbors<T, K> columns, rows;
  Neighbors<T, kPlanes> planes;
  int32_t at[kCount][kBlock];

  /// Not inlined, nor read(): what is read and written in four dtypes shares them.
  [[gnu::noinline]] void place(const Sampling<T>& s, const T* points, int64_t count, const PixelSteps& steps) {
    s.template neighbors<K, kPlanes>(points, count, steps, columns, rows, planes);
  }
  [[gnu::noinline]] void read(const Sampling<T>& s, const T* points, int64_t count, const PixelSteps& steps) {
    place(s, points, count, steps);
    each([&](int pixel, int d, int i, int j) __attribute__((always_inline)) {
      for (int64_t k = 0; k < count; ++k) at[pixel][k] = inside(d, i, j, k) ? number(d, i, j, k) : kOutside;
    });
  }
  /// f(pixel, plane, row, column).
  template <class F> [[gnu::always_inline]] static void each(const F& f) {
    for (int d = 0; d < kPlanes; ++d)
      for (int i = 0; i < K; ++i)
        for (int j = 0; j < K; ++j) f((d * K + i) * K + j, d, i, j);
  }
  bool inside(int d, int i, int j, int64_t k) const {
    return (rows.inside[i][k] & columns.inside[j][k] & (D > 0 ? planes.inside[d][k] : -1)) != 0;
  }
  int32_t number(int d, int i, int j, int64_t k) const {
    return rows.at[i][k] + columns.at[j][k] + (D > 0 ? planes.at[d][k] : 0);
  }
  T weight_of_plane(int d, int64_t k) const { return D > 0 ? planes.weight[d][k] : T(1); }
  /// The value of a pixel, 0 outside of the image.
  template <class S> T value(const S* channel, int pixel, int64_t k) const {
    return at[pixel][k] != kOutside ? static_cast<T>(channel[at[pixel][k]]) : T(0);
  }
};

/// f(n, first, count, pixels) for blocks of points, in parallel.
template <int K, int D, class T, class F>
void for_narrow_blocks(const Sampling<T>& s, const T* coordinates, const Operand& x, const F& f) {
  using Block = Pixels<T, K, D>;
  constexpr int64_t kGrain = 2048, kBlock = Block::kBlock;
  const int64_t blocks = ceil_div(s.points, kBlock);
  const int64_t grain = std::max<int64_t>(1, kGrain / kBlock / std::max<int64_t>(1, s.channels));
  parallel_for(x.size(0) * blocks, grain, [&](int64_t begin, int64_t end) {
    Block pixels;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t n = b / blocks, first = b % blocks * kBlock, count = std::min(kBlock, s.points - first);
      pixels.read(s, coordinates + (n * s.points + first) * Block::kAxes, count, steps_of(x));
      f(n, first, count, pixels);
    }
  });
}

/// The values of a block of points in one channel.
template <class S, class T, int K, int D>
void sample_block(const Pixels<T, K, D>& pixels, const S* channel, int64_t count, T* to) {
  for (int64_t k = 0; k < count; ++k) {
    if constexpr (K == 1) {
      to[k] = pixels.value(channel, 0, k);
      continue;
    }
    T sum = 0;
#pragma GCC unroll 2
    for (int d = 0; d < pixels.kPlanes; ++d) {
      T plane = 0;
#pragma GCC unroll 4
      for (int i = 0; i < K; ++i) {
        T row = 0;
#pragma GCC unroll 4
        for (int j = 0; j < K; ++j) row += pixels.columns.weight[j][k] * pixels.value(channel, (d * K + i) * K + j, k);
        plane += pixels.rows.weight[i][k] * row;
      }
      sum = D > 0 ? sum + pixels.weight_of_plane(d, k) * plane : plane;
    }
    to[k] = sum;
  }
}

template <int K, int D, class S, class T>
void sample_narrow(const Sampling<T>& s, const Operand& x, const T* coordinates, const Operand& out) {
  using Block = Pixels<T, K, D>;
  const int64_t step = out.stride(4);
  for_narrow_blocks<K, D>(s, coordinates, x, [&](int64_t n, int64_t first, int64_t count, const Block& pixels) {
    for (int64_t c = 0; c < s.channels; ++c) {
      S* to = channel_of<S>(out, n, c) + first * step;
      T sums[Block::kBlock];
      sample_block(pixels, channel_of<S>(x, n, c), count, sums);
      for (int64_t k = 0; k < count; ++k) to[k * step] = static_cast<S>(sums[k]);
    }
  });
}

/// Adds to the gradients of a block of points (by column, row and plane) what one channel adds: its gradient times the
/// mixture of pixels by the weights' derivatives.
template <class S, class T, int K, int D, int64_t kBlock>
void add_slopes(const Pixels<T, K, D>& pixels, const S* channel, const T* gradient, int64_t count,
                T (&sums)[Pixels<T, K, D>::kAxes][kBlock]) {
  for (int64_t k = 0; k < count; ++k) {
    T by_column = 0, by_row = 0, by_plane = 0;
#pragma GCC unroll 2
    for (int d = 0; d < pixels.kPlanes; ++d) {
      T plane = 0, across = 0, down = 0;
#pragma GCC unroll 4
      for (int i = 0; i < K; ++i) {
        T row = 0, slope = 0;
#pragma GCC unroll 4
        for (int j = 0; j < K; ++j) {
          const T value = pixels.value(channel, (d * K + i) * K + j, k);
          row += pixels.columns.weight[j][k] * value, slope += pixels.columns.slope[j][k] * value;
        }
        across += pixels.rows.weight[i][k] * slope, down += pixels.rows.slope[i][k] * row;
        if (D > 0) plane += pixels.rows.weight[i][k] * row;
      }
      if (D == 0) {
        by_column = across, by_row = down;
      } else {
        const T weight = pixels.weight_of_plane(d, k);
        by_column += weight * across, by_row += weight * down, by_plane += pixels.planes.slope[d][k] * plane;
      }
    }
    sums[0][k] += gradient[k] * by_column, sums[1][k] += gradient[k] * by_row;
    if constexpr (D > 0) sums[2][k] += gradient[k] * by_plane;
  }
}

/// The gradient of the points: a sum over channels.
template <int K, int D, class S, class T>
void narrow_gradient_of_grid(const Sampling<T>& s, const Operand& g, const Operand& x, const T* coordinates, T* out) {
  using Block = Pixels<T, K, D>;
  constexpr int kAxes = Block::kAxes;
  const int64_t step = g.stride(4);
  for_narrow_blocks<K, D>(s, coordinates, x, [&](int64_t n, int64_t first, int64_t count, const Block& pixels) {
    T sums[kAxes][Block::kBlock] = {}, gradient[Block::kBlock];
    for (int64_t c = 0; c < s.channels; ++c) {
      const S* from = channel_of<S>(g, n, c) + first * step;
      for (int64_t k = 0; k < count; ++k) gradient[k] = static_cast<T>(from[k * step]);
      add_slopes(pixels, channel_of<S>(x, n, c), gradient, count, sums);
    }
    T* to = out + (n * s.points + first) * kAxes;
    for (int64_t k = 0; k < count; ++k)
      for (int axis = 0; axis < kAxes; ++axis) to[kAxes * k + axis] = sums[axis][k];
  });
}

/// Adds the gradients of `count` points, which `pixels` has been placed for, to those of the pixels.
template <class T, int K, int D>
[[gnu::noinline]] void scatter_block(Pixels<T, K, D>& pixels, const T* gradient, int64_t count, T* to) {
  using Block = Pixels<T, K, D>;
  T parts[Block::kCount][Block::kBlock];
  Block::each([&](int pixel, int d, int i, int j) __attribute__((always_inline)) {
    for (int64_t k = 0; k < count; ++k) {  // one outside adds 0 to a pixel inside: a branch would cost more
      const T weight = pixels.rows.weight[i][k] * pixels.columns.weight[j][k] * pixels.weight_of_plane(d, k);
      pixels.at[pixel][k] = pixels.number(d, i, j, k);
      parts[pixel][k] = pixels.inside(d, i, j, k) ? weight * gradient[k] : T(0);
    }
  });
  for (int64_t k = 0; k < count; ++k)
#pragma GCC unroll 16
    for (int pixel = 0; pixel < Block::kCount; ++pixel) to[pixels.at[pixel][k]] += parts[pixel][k];
}

/// The gradient of one channel, into memory whose pixels lie `steps` apart.
template <int K, int D, class S, class T>
void scatter_channel(const Sampling<T>& s, const S* g, int64_t step, const T* coordinates, const PixelSteps& steps,
                     T* to) {
  using Block = Pixels<T, K, D>;
  constexpr int64_t kBlock = Block::kBlock;
  Block pixels;
  T gradient[kBlock];
  for (int64_t first = 0; first < s.points; first += kBlock) {
    const int64_t count = std::min(kBlock, s.points - first);
    pixels.place(s, coordinates + first * Block::kAxes, count, steps);
    for (int64_t k = 0; k < count; ++k) gradient[k] = static_cast<T>(g[(first + k) * step]);
    scatter_block(pixels, gradient, count, to);
  }
}

/// The gradient of images, each channel one thread's.
template <int K, int D, class S, class T>
void narrow_gradient_of_images(const Sampling<T>& s, const Operand& g, const T* coordinates, const Operand& dx) {
  constexpr bool kDirect = std::is_same_v<S, T>;
  constexpr int kAxes = Pixels<T, K, D>::kAxes;
  const int64_t depth = dx.size(2), height = dx.size(3), width = dx.size(4);
  const PixelSteps steps = steps_of(dx);
  const auto each_pixel = [=](S * channel, const auto& f) __attribute__((always_inline)) {
    for (int64_t line = 0; line < depth * height; ++line) {
      S* const first = channel + line / height * steps.plane + line % height * steps.line;
      for (int64_t w = 0; w < width; ++w) f(first[w * steps.column], line * width + w);
    }
  };
  parallel_for(dx.size(0) * s.channels, 1, [&](int64_t begin, int64_t end) {
    const Scratch<T> sums(kDirect ? 0 : s.pixels);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / s.channels, c = i % s.channels;
      S* const channel = channel_of<S>(dx, n, c);
      const S* from = channel_of<S>(g, n, c);
      const T* points = coordinates + n * s.points * kAxes;
      if constexpr (kDirect) {
        each_pixel(channel, [](S& pixel, int64_t) { pixel = S(0); });
        scatter_channel<K, D>(s, from, g.stride(4), points, steps, channel);
      } else {
        std::fill_n(sums.data(), s.pixels, T(0));
        scatter_channel<K, D>(s, from, g.stride(4), points, {height * width, width, 1}, sums.data());
        each_pixel(channel, [values = sums.data()](S& pixel, int64_t at) { pixel = static_cast<S>(values[at]); });
      }
    }
  });
}

}  // namespace weft::kernels::cpu::grid

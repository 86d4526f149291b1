// Images of fewer channels than a register holds, read at the points of a grid: registers hold points. For images of
// any strides.
#pragma once

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/window/grid_sample_taps.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu::grid {

/// One channel of an image of an operand (N, C, 1, H, W).
template <class S> S* plane_of(const Operand& x, int64_t n, int64_t c) {
  return x.data<S>() + n * x.stride(0) + c * x.stride(1);
}

/// Whether the points of a channel lie one step apart, and a plane's offsets fit 32 bits.
inline bool lies_in_steps(const Operand& x) {
  return (x.size(3) == 1 || x.stride(3) == x.size(4) * x.stride(4)) &&
         (x.size(2) == 1 || x.stride(2) == x.size(3) * x.size(4) * x.stride(4));
}
inline bool has_short_offsets(const Operand& x) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() - 2;  // numbers of pixels, and those beside them, too
  const int64_t reach = x.size(3) * std::abs(x.stride(3)) + x.size(4) * std::abs(x.stride(4));
  return std::max({x.size(3), x.size(4), reach}) < kMost;
}

/// The K x K pixels that a block of points reads: pixel K i + j is row i, column j.
template <class T, int K> struct Pixels {
  static constexpr int64_t kBlock = Neighbors<T, K>::kBlock;
  static constexpr int32_t kOutside = std::numeric_limits<int32_t>::min();  // further than any pixel
  Neighbors<T, K> columns, rows;
  int32_t at[K * K][kBlock];

  void read(const Sampling<T>& s, const T* points, int64_t count, int64_t line, int64_t column) {
    s.template neighbors<K>(points, count, line, column, columns, rows);
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        for (int64_t k = 0; k < count; ++k) {
          const int32_t place = rows.at[i][k] + columns.at[j][k];
          at[K * i + j][k] = (rows.inside[i][k] & columns.inside[j][k]) != 0 ? place : kOutside;
        }
  }
  /// The value of a pixel, 0 outside of the image.
  template <class S> T value(const S* plane, int pixel, int64_t k) const {
    return at[pixel][k] != kOutside ? static_cast<T>(plane[at[pixel][k]]) : T(0);
  }
};

/// f(n, first, count, pixels) for blocks of points, in parallel.
template <int K, class T, class F>
void for_narrow_blocks(const Sampling<T>& s, const T* coordinates, const Operand& x, const F& f) {
  constexpr int64_t kGrain = 2048, kBlock = Pixels<T, K>::kBlock;
  const int64_t blocks = (s.points + kBlock - 1) / kBlock;
  const int64_t grain = std::max<int64_t>(1, kGrain / kBlock / std::max<int64_t>(1, s.channels));
  parallel_for(x.size(0) * blocks, grain, [&](int64_t begin, int64_t end) {
    Pixels<T, K> pixels;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t n = b / blocks, first = b % blocks * kBlock, count = std::min(kBlock, s.points - first);
      pixels.read(s, coordinates + (n * s.points + first) * 2, count, x.stride(3), x.stride(4));
      f(n, first, count, pixels);
    }
  });
}

/// The values of a block of points in one channel.
template <class S, class T, int K> void sample_block(const Pixels<T, K>& pixels, const S* plane, int64_t count, T* to) {
  for (int64_t k = 0; k < count; ++k) {
    if constexpr (K == 1) {
      to[k] = pixels.value(plane, 0, k);
      continue;
    }
    T sum = 0;
#pragma GCC unroll 4
    for (int i = 0; i < K; ++i) {
      T row = 0;
#pragma GCC unroll 4
      for (int j = 0; j < K; ++j) row += pixels.columns.weight[j][k] * pixels.value(plane, K * i + j, k);
      sum += pixels.rows.weight[i][k] * row;
    }
    to[k] = sum;
  }
}

template <int K, class S, class T>
void sample_narrow(const Sampling<T>& s, const Operand& x, const T* coordinates, const Operand& out) {
  const int64_t step = out.stride(4);
  for_narrow_blocks<K>(s, coordinates, x, [&](int64_t n, int64_t first, int64_t count, const Pixels<T, K>& pixels) {
    for (int64_t c = 0; c < s.channels; ++c) {
      S* to = plane_of<S>(out, n, c) + first * step;
      T sums[Pixels<T, K>::kBlock];
      sample_block(pixels, plane_of<S>(x, n, c), count, sums);
      for (int64_t k = 0; k < count; ++k) to[k * step] = static_cast<S>(sums[k]);
    }
  });
}

/// Adds to the gradients of a block of points what one channel adds: its gradient times the mixture of pixels by the
/// weights' derivatives.
template <class S, class T, int K>
void add_slopes(const Pixels<T, K>& pixels, const S* plane, const T* gradient, int64_t count, T* across, T* down) {
  for (int64_t k = 0; k < count; ++k) {
    T by_column = 0, by_row = 0;
#pragma GCC unroll 4
    for (int i = 0; i < K; ++i) {
      T row = 0, slope = 0;
#pragma GCC unroll 4
      for (int j = 0; j < K; ++j) {
        const T value = pixels.value(plane, K * i + j, k);
        row += pixels.columns.weight[j][k] * value, slope += pixels.columns.slope[j][k] * value;
      }
      by_column += pixels.rows.weight[i][k] * slope, by_row += pixels.rows.slope[i][k] * row;
    }
    across[k] += gradient[k] * by_column, down[k] += gradient[k] * by_row;
  }
}

/// The gradient of the points: a sum over channels.
template <int K, class S, class T>
void narrow_gradient_of_grid(const Sampling<T>& s, const Operand& g, const Operand& x, const T* coordinates, T* out) {
  const int64_t step = g.stride(4);
  for_narrow_blocks<K>(s, coordinates, x, [&](int64_t n, int64_t first, int64_t count, const Pixels<T, K>& pixels) {
    T across[Pixels<T, K>::kBlock] = {}, down[Pixels<T, K>::kBlock] = {}, gradient[Pixels<T, K>::kBlock];
    for (int64_t c = 0; c < s.channels; ++c) {
      const S* from = plane_of<S>(g, n, c) + first * step;
      for (int64_t k = 0; k < count; ++k) gradient[k] = static_cast<T>(from[k * step]);
      add_slopes(pixels, plane_of<S>(x, n, c), gradient, count, across, down);
    }
    T* to = out + (n * s.points + first) * 2;
    for (int64_t k = 0; k < count; ++k) to[2 * k] = across[k], to[2 * k + 1] = down[k];
  });
}

/// The gradient of one channel, into a plane whose pixels lie `line` and `column` apart.
template <int K, class S, class T>
void scatter_plane(const Sampling<T>& s, const S* g, int64_t step, const T* coordinates, int64_t line, int64_t column,
                   T* to) {
  constexpr int64_t kBlock = Pixels<T, K>::kBlock;
  Neighbors<T, K> columns, rows;
  T gradient[kBlock], parts[K * K][kBlock];
  int32_t at[K * K][kBlock];
  for (int64_t first = 0; first < s.points; first += kBlock) {
    const int64_t count = std::min(kBlock, s.points - first);
    s.template neighbors<K>(coordinates + first * 2, count, line, column, columns, rows);
    for (int64_t k = 0; k < count; ++k) gradient[k] = static_cast<T>(g[(first + k) * step]);
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        for (int64_t k = 0; k < count; ++k) {  // one outside adds 0 to a pixel inside: a branch would cost more
          const bool inside = (rows.inside[i][k] & columns.inside[j][k]) != 0;
          at[K * i + j][k] = rows.at[i][k] + columns.at[j][k];
          parts[K * i + j][k] = inside ? rows.weight[i][k] * columns.weight[j][k] * gradient[k] : T(0);
        }
    for (int64_t k = 0; k < count; ++k)
#pragma GCC unroll 16
      for (int pixel = 0; pixel < K * K; ++pixel) to[at[pixel][k]] += parts[pixel][k];
  }
}

/// The gradient of images, each channel one thread's.
template <int K, class S, class T>
void narrow_gradient_of_images(const Sampling<T>& s, const Operand& g, const T* coordinates, const Operand& dx) {
  const int64_t height = dx.size(3), width = dx.size(4);
  constexpr bool kDirect = std::is_same_v<S, T>;
  parallel_for(dx.size(0) * s.channels, 1, [&](int64_t begin, int64_t end) {
    const Scratch<T> sums(kDirect ? 0 : s.pixels);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / s.channels, c = i % s.channels;
      S* const plane = plane_of<S>(dx, n, c);
      const auto pixel = [&](int64_t h, int64_t w) -> S& { return plane[h * dx.stride(3) + w * dx.stride(4)]; };
      const S* from = plane_of<S>(g, n, c);
      if constexpr (kDirect) {
        for (int64_t h = 0; h < height; ++h)
          for (int64_t w = 0; w < width; ++w) pixel(h, w) = T(0);
        scatter_plane<K>(s, from, g.stride(4), coordinates + n * s.points * 2, dx.stride(3), dx.stride(4), plane);
      } else {
        std::fill_n(sums.data(), s.pixels, T(0));
        scatter_plane<K>(s, from, g.stride(4), coordinates + n * s.points * 2, width, int64_t{1}, sums.data());
        for (int64_t h = 0; h < height; ++h)
          for (int64_t w = 0; w < width; ++w) pixel(h, w) = static_cast<S>(sums.data()[h * width + w]);
      }
    }
  });
}

}  // namespace weft::kernels::cpu::grid

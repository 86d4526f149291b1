// Images of fewer channels than a register holds, read at the points of a grid: registers hold points. Bilinear
// and nearest, for images of any strides.
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
  const int64_t reach = x.size(3) * std::abs(x.stride(3)) + x.size(4) * std::abs(x.stride(4));
  return reach < std::numeric_limits<int32_t>::max();
}

/// The four pixels that a block of points reads: pixel 2 i + j is row i, column j.
template <class T> struct Corners {
  static constexpr int64_t kBlock = Neighbours<T>::kBlock;
  int32_t at[4][kBlock], inside[4][kBlock];
  T weight[4][kBlock];

  void join(const Neighbours<T>& columns, const Neighbours<T>& rows, int64_t count) {
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int64_t k = 0; k < count; ++k) {
          at[2 * i + j][k] = rows.at[i][k] + columns.at[j][k];
          inside[2 * i + j][k] = rows.inside[i][k] & columns.inside[j][k];
          weight[2 * i + j][k] = rows.weight[i][k] * columns.weight[j][k];
        }
  }
  /// The value of a pixel, 0 outside of the image.
  template <class S> T value(const S* plane, int corner, int64_t k) const {
    return inside[corner][k] != 0 ? static_cast<T>(plane[at[corner][k]]) : T(0);
  }
};

/// f(n, first, count, columns, rows, corners) for blocks of points, in parallel.
template <class T, class F>
void for_narrow_blocks(const Sampling<T>& s, const T* coordinates, int64_t images, const Operand& pixels, const F& f) {
  constexpr int64_t kGrain = 2048, kBlock = Corners<T>::kBlock;
  const int64_t blocks = (s.points + kBlock - 1) / kBlock;
  const int64_t grain = std::max<int64_t>(1, kGrain / kBlock / std::max<int64_t>(1, s.channels));
  parallel_for(images * blocks, grain, [&](int64_t begin, int64_t end) {
    Neighbours<T> columns, rows;
    Corners<T> corners;
    for (int64_t b = begin; b < end; ++b) {
      const int64_t n = b / blocks, first = b % blocks * kBlock, count = std::min(kBlock, s.points - first);
      s.neighbours(coordinates + (n * s.points + first) * 2, count, pixels.stride(3), pixels.stride(4), columns, rows);
      corners.join(columns, rows, count);
      f(n, first, count, columns, rows, corners);
    }
  });
}

template <class S, class T>
void sample_narrow(const Sampling<T>& s, const Operand& x, const T* coordinates, const Operand& out) {
  const int64_t step = out.stride(4);
  for_narrow_blocks(s, coordinates, x.size(0), x,
                    [&](int64_t n, int64_t first, int64_t count, const auto&, const auto&, const Corners<T>& corners) {
                      for (int64_t c = 0; c < s.channels; ++c) {
                        const S* from = plane_of<S>(x, n, c);
                        S* to = plane_of<S>(out, n, c) + first * step;
                        T sums[Corners<T>::kBlock];
                        for (int64_t k = 0; k < count; ++k) {
                          T sum = 0;
                          for (int i = 0; i < 4; ++i) sum += corners.weight[i][k] * corners.value(from, i, k);
                          sums[k] = sum;
                        }
                        for (int64_t k = 0; k < count; ++k) to[k * step] = static_cast<S>(sums[k]);
                      }
                    });
}

/// The gradient of the points: a sum over channels of the gradient times the mixture of pixels by the weights'
/// derivatives.
template <class S, class T>
void narrow_gradient_of_grid(const Sampling<T>& s, const Operand& g, const Operand& x, const T* coordinates, T* out) {
  const int64_t step = g.stride(4);
  for_narrow_blocks(s, coordinates, x.size(0), x,
                    [&](int64_t n, int64_t first, int64_t count, const Neighbours<T>& columns,
                        const Neighbours<T>& rows, const Corners<T>& corners) {
                      T across[Corners<T>::kBlock] = {}, down[Corners<T>::kBlock] = {};
                      for (int64_t c = 0; c < s.channels; ++c) {
                        const S* from = plane_of<S>(x, n, c);
                        const S* row = plane_of<S>(g, n, c) + first * step;
                        for (int64_t k = 0; k < count; ++k) {
                          const T a = corners.value(from, 0, k), b = corners.value(from, 1, k);
                          const T d = corners.value(from, 2, k), e = corners.value(from, 3, k);
                          const T gradient = static_cast<T>(row[k * step]);
                          const T upper = columns.slope[0][k] * a + columns.slope[1][k] * b;
                          const T lower = columns.slope[0][k] * d + columns.slope[1][k] * e;
                          const T left = rows.slope[0][k] * a + rows.slope[1][k] * d;
                          const T right = rows.slope[0][k] * b + rows.slope[1][k] * e;
                          across[k] += gradient * (rows.weight[0][k] * upper + rows.weight[1][k] * lower);
                          down[k] += gradient * (columns.weight[0][k] * left + columns.weight[1][k] * right);
                        }
                      }
                      T* to = out + (n * s.points + first) * 2;
                      for (int64_t k = 0; k < count; ++k) to[2 * k] = across[k], to[2 * k + 1] = down[k];
                    });
}

/// The gradient of one channel, into a plane whose pixels lie `line` and `column` apart.
template <class S, class T>
void scatter_plane(const Sampling<T>& s, const S* g, int64_t step, const T* coordinates, int64_t line, int64_t column,
                   T* to) {
  constexpr int64_t kBlock = Corners<T>::kBlock;
  Neighbours<T> columns, rows;
  Corners<T> corners;
  for (int64_t first = 0; first < s.points; first += kBlock) {
    const int64_t count = std::min(kBlock, s.points - first);
    s.neighbours(coordinates + first * 2, count, line, column, columns, rows);
    corners.join(columns, rows, count);
    for (int64_t k = 0; k < count; ++k) {
      const T gradient = static_cast<T>(g[(first + k) * step]);
      for (int i = 0; i < 4; ++i)
        to[corners.at[i][k]] += corners.inside[i][k] != 0 ? corners.weight[i][k] * gradient : T(0);
    }
  }
}

/// The gradient of images, each channel one thread's.
template <class S, class T>
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
        scatter_plane(s, from, g.stride(4), coordinates + n * s.points * 2, dx.stride(3), dx.stride(4), plane);
      } else {
        std::fill_n(sums.data(), s.pixels, T(0));
        scatter_plane(s, from, g.stride(4), coordinates + n * s.points * 2, width, int64_t{1}, sums.data());
        for (int64_t h = 0; h < height; ++h)
          for (int64_t w = 0; w < width; ++w) pixel(h, w) = static_cast<S>(sums.data()[h * width + w]);
      }
    }
  });
}

}  // namespace weft::kernels::cpu::grid

// Which pixels of an image the points of a grid read, with which weights, and the weights' derivatives by the grid's
// values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tensor/core/interpolation.h"
#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/ops/grid_sample.h"

namespace weft::kernels::cpu::grid {

/// A coordinate along an axis, in pixels, and its derivative by the grid's value.
template <class T> struct Coordinate { T at, slope; };

/// The pixels of the image that a point reads along an axis, with weights and the weights' derivatives by the grid's
/// value.
template <class T> struct AxisTaps {
  static constexpr int kMost = 4;
  int count = 0;
  int64_t at[kMost + 1];
  T weight[kMost + 1], slope[kMost + 1];
};

/// The K pixels that each of many points reads along an axis, with weights and their derivatives by the grid's value.
/// One outside of the image counts as the first pixel, with a weight of 0.
template <class T, int K> struct Neighbors {
  static constexpr int64_t kBlock = 128;
  int32_t at[K][kBlock], inside[K][kBlock];
  T weight[K][kBlock], slope[K][kBlock];
};

/// How far apart the pixels of a channel lie.
struct PixelSteps {
  int64_t plane, line, column;
};

template <class T> class Axis {
 public:
  Axis(int64_t size, const GridSampleOptions& options) : last_(static_cast<T>(size - 1)), options_(options) {
    // Beyond 2^24 a float may be the pixel behind the last one.
    if (static_cast<int64_t>(last_) >= size) last_ = std::nextafter(last_, T(0));
  }

  /// Fills `out`, which is not returned: a copy of what was just written piece by piece would wait for it.
  [[gnu::always_inline]] void taps(T value, AxisTaps<T>& out) const {
    const Coordinate<T> coordinate = in_pixels(value);
    if (options_.mode == Interpolation::bicubic) return add_cubic(out, coordinate);
    const auto [at, slope] = padded(coordinate);
    if (options_.mode == Interpolation::nearest) return add(out, std::nearbyint(at), 1, 0);
    const T low = std::floor(at), part = at - low;
    add(out, low, 1 - part, -slope);
    add(out, low + 1, part, slope);
  }

  /// Of the interpolation that reads K pixels, at `count` values, `apart` from each other; pixels are `step` apart.
  template <int K>
  void neighbors(const T* values, int64_t apart, int64_t count, int64_t step, Neighbors<T, K>& out) const {
    T at[kBlock], slope[kBlock];  // in whole registers
    const Axis axis = *this;      // no part of what is written
    for (int64_t k = 0; k < count; ++k) at[k] = axis.in_pixels(values[apart * k]).at;
    std::fill_n(slope, count, axis.in_pixels(0).slope);
    if constexpr (K == 4) return cubic_neighbors(at, slope, count, step, out);
    pad(at, slope, count);
    if constexpr (K == 2) return linear_neighbors(at, slope, count, step, out);
    for (int64_t k = 0; k < count; ++k) at[k] = std::nearbyint(at[k]);
    for (int64_t k = 0; k < count; k += N) put(k, 0, simd::load<T>(at + k), Lanes{} + 1, Lanes{}, step, out);
  }

  /// Whether linear interpolation at a value of the grid reads two pixels, `low` and the next one, with the weights
  /// 1 - part and part. (low is 0 where not.)
  [[gnu::always_inline]] bool pair(T value, T& low, T& part) const {
    const T at = padded(in_pixels(value)).at, floor = std::floor(at);
    const bool inside = floor >= 0 && floor < last_;
    part = at - floor;
    low = inside ? floor : T(0);
    return inside;
  }

 private:
  static constexpr int N = simd::kLanes<T>;
  static constexpr int64_t kBlock = Neighbors<T, 1>::kBlock;
  using Lanes = simd::Vec<T>;

  /// N points' neighbor number `side`.
  template <int K>
  void put(int64_t k, int side, Lanes pixel, Lanes weight, Lanes slope, int64_t step, Neighbors<T, K>& out) const {
    const Lanes zero{};
    const auto inside = (pixel >= 0) & (pixel <= last_);
    const auto number = simd::convert_lanes<int32_t, N>(inside ? pixel : zero) * static_cast<int32_t>(step);
    simd::store<int32_t, N>(out.at[side] + k, number);
    simd::store<int32_t, N>(out.inside[side] + k, simd::convert_lanes<int32_t, N>(inside));
    simd::store<T>(out.weight[side] + k, inside ? weight : zero);
    simd::store<T>(out.slope[side] + k, inside ? slope : zero);
  }

  void linear_neighbors(const T* at, const T* slope, int64_t count, int64_t step, Neighbors<T, 2>& out) const {
    for (int64_t k = 0; k < count; k += N) {
      const Lanes coordinate = simd::load<T>(at + k), turn = simd::load<T>(slope + k), zero{};
      // Within reach of integers: what is far outside, and NaN, is outside.
      const Lanes near = coordinate >= T(-2) ? (coordinate <= last_ + 2 ? coordinate : last_ + 2 + zero) : zero - 2;
      const auto whole = simd::convert_lanes<T, N>(simd::convert_lanes<int32_t, N>(near));
      const Lanes low = whole > near ? whole - 1 : whole, part = coordinate - low;
      put(k, 0, low, 1 - part, -turn, step, out);
      put(k, 1, low + 1, part, turn, step, out);
    }
  }

  void cubic_neighbors(const T* at, const T* slope, int64_t count, int64_t step, Neighbors<T, 4>& out) const {
    T low[kBlock], pixel[kBlock], none[kBlock];
    for (int64_t k = 0; k < count; ++k) low[k] = std::floor(at[k]);
    for (int side = 0; side < 4; ++side) {
      for (int64_t k = 0; k < count; ++k) pixel[k] = low[k] + static_cast<T>(side - 1), none[k] = 0;
      pad(pixel, none, count);
      for (int64_t k = 0; k < count; k += N) {
        const Lanes part = beyond(simd::load<T>(at + k), simd::load<T>(low + k));
        put(k, side, simd::load<T>(pixel + k), cubic_weight(side, part),
            cubic_slope(side, part) * simd::load<T>(slope + k), step, out);
      }
    }
  }

  /// padded() of many.
  void pad(T* at, T* slope, int64_t count) const {
    const Axis axis = *this;
    const auto move = [&](const auto& to) {
      for (int64_t k = 0; k < count; ++k) {
        const Coordinate<T> coordinate = to(Coordinate<T>{at[k], slope[k]});
        at[k] = coordinate.at, slope[k] = coordinate.slope;
      }
    };
    if (options_.padding == GridPadding::reflection) move([axis](const auto& c) { return axis.reflected(c); });
    if (options_.padding != GridPadding::zeros) move([axis](const auto& c) { return axis.clamped(c); });
  }

  [[gnu::always_inline]] Coordinate<T> in_pixels(T value) const {
    const T scale = options_.align_corners ? last_ / 2 : (last_ + 1) / 2;
    return {(value + 1) * scale - (options_.align_corners ? T(0) : T(0.5)), scale};
  }

  /// Derivatives of the weights of cubic convolution.
  template <class V> static V inner_slope(V t) { return (t * T(3.75) - T(4.5)) * t; }
  template <class V> static V outer_slope(V t) { return (t * T(-2.25) + T(7.5)) * t - 6; }
  /// Of the four pixels around a point that lies `t` beyond the second one: the weight of the one at `side`, and its
  /// derivative by t.
  template <class V> static V cubic_weight(int side, V t) {
    return side == 0   ? cubic_outer(t + 1)
           : side == 1 ? cubic_inner(t)
           : side == 2 ? cubic_inner(1 - t)
                       : cubic_outer(2 - t);
  }
  template <class V> static V cubic_slope(int side, V t) {
    return side == 0   ? outer_slope(t + 1)
           : side == 1 ? inner_slope(t)
           : side == 2 ? -inner_slope(1 - t)
                       : -outer_slope(2 - t);
  }

  /// at - low. It is 0 where both are infinite, which the padding brings to the border: NaN would get into its pixels'
  /// gradients.
  template <class V> static V beyond(V at, V low) { return at == low ? V{} : at - low; }

  [[gnu::always_inline]] void add_cubic(AxisTaps<T>& out, const Coordinate<T>& coordinate) const {
    const T low = std::floor(coordinate.at), t = beyond(coordinate.at, low);
    for (int i = 0; i < 4; ++i)
      add(out, padded({low + static_cast<T>(i - 1), 0}).at, cubic_weight(i, t), cubic_slope(i, t) * coordinate.slope);
  }

  /// A pixel outside of the image, or NaN, is not read: it is written, and not counted, as a branch would be
  /// mispredicted too often.
  [[gnu::always_inline]] void add(AxisTaps<T>& out, T pixel, T weight, T slope) const {
    const bool inside = pixel >= 0 && pixel <= last_;
    out.at[out.count] = static_cast<int64_t>(inside ? pixel : T(0));
    out.weight[out.count] = weight;
    out.slope[out.count] = slope;
    out.count += inside;
  }

  /// The coordinate brought into the image as the padding says.
  [[gnu::always_inline]] Coordinate<T> padded(const Coordinate<T>& coordinate) const {
    if (options_.padding == GridPadding::zeros) return coordinate;
    return clamped(options_.padding == GridPadding::reflection ? reflected(coordinate) : coordinate);
  }

  /// The nearest one in the image. Its derivative is 0 from the outer pixels on (PyTorch's convention): the next pixel
  /// is not read. Without branches, as reflected(): registers hold many.
  [[gnu::always_inline]] Coordinate<T> clamped(const Coordinate<T>& coordinate) const {
    const T at = coordinate.at;
    const bool moves = (at > 0) & (at < last_);
    return {at < 0 ? T(0) : at > last_ ? last_ : at, moves ? coordinate.slope : T(0)};
  }

  /// Its mirror image between the centers of the outer pixels, or between their edges.
  [[gnu::always_inline]] Coordinate<T> reflected(const Coordinate<T>& coordinate) const {
    const T edge = options_.align_corners ? T(0) : T(0.5), span = last_ + 2 * edge;
    if (span <= 0) return {coordinate.at * 0, 0};
    const T from = coordinate.at + edge, wave = from - std::floor(from / (2 * span)) * (2 * span);
    const T turn = wave < span ? 1 : wave > span ? -1 : 0;
    return {span - edge - std::abs(wave - span), coordinate.slope * turn};
  }

  T last_;
  GridSampleOptions options_;
};

/// All pixels that a point reads: their numbers in the image, weights, and the weights' derivatives by the point's
/// column, row and depth.
template <class T> struct PointTaps {
  static constexpr int kMost = 16;  // 4 x 4, or 2 x 2 x 2
  int count = 0;
  int64_t at[kMost];
  T weight[kMost], slope[3][kMost];
};

/// Which pixels the points of a grid read; x is (N, C, D, H, W).
template <class T> class Sampling {
 public:
  Sampling(const Operand& x, const Operand& grid, const GridSampleOptions& options)
      : channels(x.size(1)),
        pixels(x.size(2) * x.size(3) * x.size(4)),
        axes(grid.size(grid.rank() - 1)),
        points(grid.numel() / std::max<int64_t>(1, axes * grid.size(0))),
        height_(x.size(3)),
        width_(x.size(4)),
        mode_(options.mode),
        is_plane_(axes == 2 && options.mode == Interpolation::bilinear),
        depths_(x.size(2), options),
        lines_(height_, options),
        columns_(width_, options) {}

  /// With their derivatives where `slopes`.
  template <bool slopes> [[gnu::always_inline]] void taps(const T* point, PointTaps<T>& out) const {
    AxisTaps<T> w, h, d;
    columns_.taps(point[0], w);
    lines_.taps(point[1], h);
    if (axes == 3)
      depths_.taps(point[2], d);
    else
      d.count = 1, d.at[0] = 0, d.weight[0] = 1, d.slope[0] = 0;
    for (int i = 0; i < d.count; ++i)
      for (int j = 0; j < h.count; ++j)
        for (int k = 0; k < w.count; ++k) {
          const int tap = out.count++;
          out.at[tap] = (d.at[i] * height_ + h.at[j]) * width_ + w.at[k];
          out.weight[tap] = d.weight[i] * h.weight[j] * w.weight[k];
          if (!slopes) continue;
          out.slope[0][tap] = d.weight[i] * h.weight[j] * w.slope[k];
          out.slope[1][tap] = d.weight[i] * h.slope[j] * w.weight[k];
          out.slope[2][tap] = d.slope[i] * h.weight[j] * w.weight[k];
        }
  }

  /// The points [0, count), kSquares at most, that read a square of four pixels: where inside[k], it begins at pixel
  /// first[k], and parts are the weights of its second column and row. None where the mode is another.
  static constexpr int64_t kSquares = 64;
  struct Squares {
    bool inside[kSquares];
    int64_t first[kSquares];
    T column_part[kSquares], row_part[kSquares];
  };
  void squares(const T* coordinates, int64_t count, Squares& out) const {
    if (!is_plane_) return std::fill_n(out.inside, count, false), void();
    for (int64_t k = 0; k < count; ++k) {
      T column, row;
      const bool wide = columns_.pair(coordinates[2 * k], column, out.column_part[k]);
      const bool high = lines_.pair(coordinates[2 * k + 1], row, out.row_part[k]);
      out.inside[k] = wide & high;
      out.first[k] = static_cast<int64_t>(row) * width_ + static_cast<int64_t>(column);
    }
  }
  /// The square of point k.
  [[gnu::always_inline]] void square(const Squares& from, int64_t k, int64_t* at, T* weight) const {
    const T w = from.column_part[k], h = from.row_part[k];
    at[0] = from.first[k], at[1] = at[0] + 1, at[2] = at[0] + width_, at[3] = at[2] + 1;
    weight[0] = (1 - h) * (1 - w), weight[1] = (1 - h) * w, weight[2] = h * (1 - w), weight[3] = h * w;
  }

  /// The neighbors of `count` points, at most Neighbors<T, K>::kBlock, by column, by row and, of a volume, by plane (D
  /// of these, or 1 of an image). `steps`: how far apart pixels lie.
  template <int K, int D>
  void neighbors(const T* coordinates, int64_t count, const PixelSteps& steps, Neighbors<T, K>& columns,
                 Neighbors<T, K>& rows, Neighbors<T, D>& planes) const {
    columns_.template neighbors<K>(coordinates, axes, count, steps.column, columns);
    lines_.template neighbors<K>(coordinates + 1, axes, count, steps.line, rows);
    if (axes == 3) depths_.template neighbors<D>(coordinates + 2, axes, count, steps.plane, planes);
  }
  bool is_bicubic() const { return mode_ == Interpolation::bicubic; }
  /// f.operator()<K, D>() with the pixels that points read along columns and rows, and along planes: 0 in images.
  template <class F> void with_neighbors(const F& f) const {
    const bool volume = axes == 3;
    if (mode_ == Interpolation::nearest) return volume ? f.template operator()<1, 1>() : f.template operator()<1, 0>();
    if (is_bicubic()) return f.template operator()<4, 0>();
    volume ? f.template operator()<2, 2>() : f.template operator()<2, 0>();
  }

  int64_t channels, pixels;  // of the image
  int64_t axes, points;      // of an image's grid

 private:
  int64_t height_, width_;
  Interpolation mode_;
  bool is_plane_;  // and linear
  Axis<T> depths_, lines_, columns_;
};

}  // namespace weft::kernels::cpu::grid

// How the tiles of a Winograd convolution lie in an image, and their way from pixels to 36 planes and back: shared by
// its directions. Images are dense and channels-last; `step` floats lie between pixels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/winograd_transform.h"

namespace weft::kernels::cpu::winograd {

/// The results of a 3 x 3 convolution of stride 1 in tiles of 4 x 4; those of the last row and column may hang over.
struct Tiles {
  int64_t batch;
  std::array<int64_t, 2> in, out, padding;

  int64_t down() const { return (out[0] + kTile - 1) / kTile; }
  int64_t across() const { return (out[1] + kTile - 1) / kTile; }
  int64_t count() const { return batch * down() * across(); }
};

/// Image, row and column of a tile's first result.
struct Corner {
  int64_t image, row, column;
  Corner(const Tiles& t, int64_t tile)
      : image(tile / (t.down() * t.across())),
        row(tile / t.across() % t.down() * kTile),
        column(tile % t.across() * kTile) {}
};

/// S x S pixels of an image from (row, column) on; those outside of it are `outside`.
template <int S, class T>
void square(T* image, int64_t step, const std::array<int64_t, 2>& size, int64_t row, int64_t column, T* outside,
            T** pixels) {
  for (int i = 0; i < S; ++i)
    for (int j = 0; j < S; ++j) {
      const int64_t r = row + i, c = column + j;
      const bool inside = r >= 0 && r < size[0] && c >= 0 && c < size[1];
      pixels[i * S + j] = inside ? image + (r * size[1] + c) * step : outside;
    }
}

/// Matrix planes of `rows` x `columns` floats, an odd number of lines apart so that they share no places of a cache.
/// A row holds whole registers.
struct Planes {
  int64_t columns, distance;
  Planes(int64_t rows, int64_t used)
      : columns((used + simd::kLanes<float> - 1) / simd::kLanes<float> * simd::kLanes<float>),
        distance((rows * columns + 15) / 16 / 2 * 32 + 16) {}
  int64_t size() const { return kPlanes * distance; }
};

/// B^T d B of a window's 36 pixels, channel by channel, to the same place of 36 planes.
inline void input_to_planes(const float* const* pixels, int64_t channels, float* out, int64_t distance) {
  constexpr int N = simd::kLanes<float>;
  using V = simd::Vec<float, N>;
  for (int64_t c = 0; c < channels; c += N) {
    const auto count = static_cast<int>(std::min<int64_t>(N, channels - c));
    V half[kWindow][kWindow];
    const auto columns = [&](const auto& load) {
#pragma GCC unroll 6
      for (int j = 0; j < kWindow; ++j) {
        V v[kWindow];
        input<V>(load(pixels[j]), load(pixels[6 + j]), load(pixels[12 + j]), load(pixels[18 + j]), load(pixels[24 + j]),
                 load(pixels[30 + j]), v);
#pragma GCC unroll 6
        for (int i = 0; i < kWindow; ++i) half[i][j] = v[i];
      }
    };
    if (count == N)
      columns([&](const float* p) { return simd::load<float, N>(p + c); });
    else
      columns([&](const float* p) { return simd::load_part<float, N>(p + c, count); });
#pragma GCC unroll 6
    for (int i = 0; i < kWindow; ++i) {
      V v[kWindow];
      input<V>(half[i][0], half[i][1], half[i][2], half[i][3], half[i][4], half[i][5], v);
#pragma GCC unroll 6
      for (int j = 0; j < kWindow; ++j) simd::store<float, N>(out + (i * kWindow + j) * distance + c, v[j]);
    }
  }
}

/// A y A^T of a tile's 16 pixels, as above.
inline void gradient_to_planes(const float* const* pixels, int64_t channels, float* out, int64_t distance) {
  constexpr int N = simd::kLanes<float>;
  using V = simd::Vec<float, N>;
  for (int64_t c = 0; c < channels; c += N) {
    const auto count = static_cast<int>(std::min<int64_t>(N, channels - c));
    V half[kWindow][kTile];
    const auto columns = [&](const auto& load) {
#pragma GCC unroll 4
      for (int j = 0; j < kTile; ++j) {
        V v[kWindow];
        gradient<V>(load(pixels[j]), load(pixels[4 + j]), load(pixels[8 + j]), load(pixels[12 + j]), v);
#pragma GCC unroll 6
        for (int i = 0; i < kWindow; ++i) half[i][j] = v[i];
      }
    };
    if (count == N)
      columns([&](const float* p) { return simd::load<float, N>(p + c); });
    else
      columns([&](const float* p) { return simd::load_part<float, N>(p + c, count); });
#pragma GCC unroll 6
    for (int i = 0; i < kWindow; ++i) {
      V v[kWindow];
      gradient<V>(half[i][0], half[i][1], half[i][2], half[i][3], v);
#pragma GCC unroll 6
      for (int j = 0; j < kWindow; ++j) simd::store<float, N>(out + (i * kWindow + j) * distance + c, v[j]);
    }
  }
}

/// A^T m A of 36 planes to a tile's 16 pixels (null: outside) of an image that begins at `image`, finished. False where
/// a sum is not finite.
inline bool planes_to_output(const float* planes, int64_t distance, int64_t filters, const ConvFinish& finish,
                             const float* image, float* const* pixels) {
  constexpr int N = simd::kLanes<float>;
  using V = simd::Vec<float, N>;
  const V floor = simd::splat<float, N>(finish.relu ? 0.0f : -std::numeric_limits<float>::infinity());
  V unclean{};
  for (int64_t c = 0; c < filters; c += N) {
    const auto count = static_cast<int>(std::min<int64_t>(N, filters - c));
    const auto load_part = [&](const float* p) {
      return count == N ? simd::load<float, N>(p + c) : simd::load_part<float, N>(p + c, count);
    };
    V half[kTile][kWindow];
#pragma GCC unroll 6
    for (int j = 0; j < kWindow; ++j) {
      const auto load = [&](int i) { return simd::load<float, N>(planes + (i * kWindow + j) * distance + c); };
      V v[kTile];
      output<V>(load(0), load(1), load(2), load(3), load(4), load(5), v);
#pragma GCC unroll 4
      for (int i = 0; i < kTile; ++i) half[i][j] = v[i];
    }
    const V scale = finish.scale != nullptr ? load_part(finish.scale) : simd::splat<float, N>(1.0f);
    const V shift = finish.shift != nullptr ? load_part(finish.shift) : V{};
#pragma GCC unroll 4
    for (int i = 0; i < kTile; ++i) {
      V v[kTile];
      output<V>(half[i][0], half[i][1], half[i][2], half[i][3], half[i][4], half[i][5], v);
#pragma GCC unroll 4
      for (int j = 0; j < kTile; ++j) {
        unclean += v[j] * 0.0f;
        v[j] = v[j] * scale + shift;
        float* to = pixels[i * kTile + j];
        if (to == nullptr) continue;
        if (finish.residual != nullptr) v[j] += load_part(finish.residual + (to - image));
        v[j] = simd::larger(floor, v[j]);
        if (count == N)
          simd::store<float, N>(to + c, v[j]);
        else
          simd::store_part<float, N>(to + c, v[j], count);
      }
    }
  }
  bool clean = true;
  for (int i = 0; i < N; ++i) clean &= unclean[i] == 0.0f;
  return clean;
}

}  // namespace weft::kernels::cpu::winograd

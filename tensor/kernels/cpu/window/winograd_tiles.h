// How the tiles of a Winograd convolution lie in an image, and their way from pixels to planes and back; its weight
// in planes. Shared by its directions. Images are dense and channels-last; `step` floats lie between pixels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/gemm/gemm_tile.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/winograd_transform.h"

namespace weft::kernels::cpu::winograd {

/// A part of a window: at most 3 x 3 of its taps, from `at` on.
struct Part {
  Size3 at;
  int rows, columns;
};

/// A window as parts, whose planes are summed: its rows and columns in pieces of at most three, each depth by itself.
struct Parts {
  Size3 kernel;

  int64_t down() const { return pieces(kernel[1]); }
  int64_t across() const { return pieces(kernel[2]); }
  int64_t count() const { return kernel[0] * down() * across(); }
  Part operator[](int64_t i) const {
    const int64_t row = i / across() % down(), column = i % across();
    const int64_t top = kernel[1] * row / down(), left = kernel[2] * column / across();
    return {{i / (down() * across()), top, left},
            static_cast<int>(kernel[1] * (row + 1) / down() - top),
            static_cast<int>(kernel[2] * (column + 1) / across() - left)};
  }

 private:
  static int64_t pieces(int64_t size) { return ceil_div(size, kTaps); }
};

/// A convolution of stride 1 whose results are cut into tiles of 4 x 4, or of 1 x 4 where its window is a line; those
/// of the last row and column may hang over.
struct Tiles {
  int64_t batch;
  Size3 in, out, padding, kernel;

  /// Those of a forward convolution.
  static Tiles of(const ConvShape& s) { return {s.batch, s.in, s.out, s.padding, s.kernel}; }
  bool are_lines() const { return kernel[1] == 1; }
  int64_t planes() const { return are_lines() ? kWindow : kWindow * kWindow; }
  int64_t height() const { return are_lines() ? 1 : kTile; }
  int64_t down() const { return ceil_div(out[1], height()); }
  int64_t across() const { return ceil_div(out[2], kTile); }
  int64_t count() const { return batch * out[0] * down() * across(); }
  /// Pixels of an image that is read, and of one that is written.
  int64_t in_pixels() const { return in[0] * in[1] * in[2]; }
  int64_t out_pixels() const { return out[0] * out[1] * out[2]; }
};

/// Where a tile's first result lies.
struct Corner {
  int64_t image, depth, row, column;
  Corner(const Tiles& t, int64_t tile)
      : image(tile / (t.out[0] * t.down() * t.across())),
        depth(tile / (t.down() * t.across()) % t.out[0]),
        row(tile / t.across() % t.down() * t.height()),
        column(tile % t.across() * kTile) {}
};

/// R x C pixels of an image of `size` from (depth, row, column) on; those outside of it are `outside`.
template <int R, int C, class T>
void rectangle(T* image, int64_t step, const Size3& size, int64_t depth, int64_t row, int64_t column, T* outside,
               T** pixels) {
  const int64_t first = (depth * size[1] + row) * size[2] + column;
  const bool any = depth >= 0 && depth < size[0];
  if (any && row >= 0 && row + R <= size[1] && column >= 0 && column + C <= size[2]) {
    for (int i = 0; i < R; ++i)
      for (int j = 0; j < C; ++j) pixels[i * C + j] = image + (first + i * size[2] + j) * step;
    return;
  }
  for (int i = 0; i < R; ++i) {
    const bool line = any && row + i >= 0 && row + i < size[1];
    for (int j = 0; j < C; ++j) {
      const bool inside = line && column + j >= 0 && column + j < size[2];
      pixels[i * C + j] = inside ? image + (first + i * size[2] + j) * step : outside;
    }
  }
}

/// The pixels of an image that a tile's window reads for one part.
inline void window(const Tiles& t, const Part& part, const Corner& at, const float* image, int64_t step,
                   const float* zeros, const float** pixels) {
  const int64_t depth = at.depth - t.padding[0] + part.at[0], row = at.row - t.padding[1] + part.at[1],
                column = at.column - t.padding[2] + part.at[2];
  t.are_lines() ? rectangle<1, kWindow>(image, step, t.in, depth, row, column, zeros, pixels)
                : rectangle<kWindow, kWindow>(image, step, t.in, depth, row, column, zeros, pixels);
}
/// A tile's results; those that hang over are `outside`.
template <class T> void results(const Tiles& t, const Corner& at, T* image, int64_t step, T* outside, T** pixels) {
  t.are_lines() ? rectangle<1, kTile>(image, step, t.out, at.depth, at.row, at.column, outside, pixels)
                : rectangle<kTile, kTile>(image, step, t.out, at.depth, at.row, at.column, outside, pixels);
}

/// `count` matrix planes of `rows` x `columns` floats, an odd number of cache lines apart so that they do not map to
/// the same cache sets. A row holds whole registers.
struct Planes {
  int64_t count, columns, distance;
  Planes(int64_t planes, int64_t rows, int64_t used)
      : count(planes),
        columns(ceil_div(used, simd::kLanes<float>) * simd::kLanes<float>),
        distance(ceil_div(rows * columns, 16) / 2 * 32 + 16) {}
  int64_t size() const { return checked_multiply(count, distance); }
};

/// f(c, load) for every register of channels [c, c + lanes); load(p) reads those of the pixel at p.
template <class F> WEFT_SIMD void for_registers(int64_t channels, const F& f) {
  constexpr int N = simd::kLanes<float>;
  int64_t c = 0;
  for (; c + N <= channels; c += N) f(c, [c](const float* p) { return simd::load<float, N>(p + c); });
  if (c == channels) return;
  const auto rest = static_cast<int>(channels - c);
  f(c, [c, rest](const float* p) { return simd::load_part<float, N>(p + c, rest); });
}

/// f.operator()<pair>() for all pairs of rows.
template <class F> WEFT_SIMD void for_pairs(const F& f) {
  f.template operator()<0>();
  f.template operator()<1>();
  f.template operator()<2>();
}

/// Which way pixels go to planes: B^T d of a window, or A y of a tile.
struct Window {
  static constexpr int kSize = kWindow;
  template <int kPair, class V, class From> WEFT_SIMD static void rows(const From& d, V* out) { input<kPair>(d, out); }
};
struct Result {
  static constexpr int kSize = kTile;
  template <int kPair, class V, class From> WEFT_SIMD static void rows(const From& y, V* out) {
    gradient<kPair>(y, out);
  }
};

/// A line to the same place of 6 planes.
template <class Kind, class V, class From>
WEFT_SIMD void line_to_planes(const From& from, float* out, int64_t distance) {
  for_pairs([&]<int kPair>() {
    V v[2];
    Kind::template rows<kPair>(from, v);
    for (int i = 0; i < 2; ++i) simd::store<float>(out + kPairRows[kPair][i] * distance, v[i]);
  });
}

/// Two rows of B^T d B or A y A^T, of as many rows and columns of pixels, to `first` and `second`.
template <class Kind, int kPair, class V, class Load>
WEFT_SIMD void pair_to_planes(const float* const* pixels, const Load& load, float* first, float* second,
                              int64_t distance) {
  V half[2][Kind::kSize];
#pragma GCC unroll 6
  for (int j = 0; j < Kind::kSize; ++j) {
    V v[2];
    Kind::template rows<kPair>([&](int i) { return load(pixels[i * Kind::kSize + j]); }, v);
    half[0][j] = v[0], half[1][j] = v[1];
  }
  line_to_planes<Kind, V>([&](int j) { return half[0][j]; }, first, distance);
  line_to_planes<Kind, V>([&](int j) { return half[1][j]; }, second, distance);
}

/// B^T d B of a window's pixels, channel by channel, to the same place of 36 planes; B^T d of a line's to 6.
inline void window_to_planes(bool line, const float* const* pixels, int64_t channels, float* out, int64_t distance) {
  using V = simd::Vec<float>;
  for_registers(channels, [&](int64_t c, const auto& load) {
    if (line) return line_to_planes<Window, V>([&](int j) { return load(pixels[j]); }, out + c, distance);
    for_pairs([&]<int kPair>() {
      pair_to_planes<Window, kPair, V>(pixels, load, out + kPairRows[kPair][0] * kWindow * distance + c,
                                       out + kPairRows[kPair][1] * kWindow * distance + c, distance);
    });
  });
}

/// Those rows of it that are a pair, or all of a line, one behind the other; of a window or of a result.
template <class Kind>
void pair_to_planes(int pair, bool line, const float* const* pixels, int64_t channels, float* out, int64_t distance) {
  using V = simd::Vec<float>;
  const auto run = [&]<int kPair>() {
    for_registers(channels, [&](int64_t c, const auto& load) {
      pair_to_planes<Kind, kPair, V>(pixels, load, out + c, out + kWindow * distance + c, distance);
    });
  };
  if (line)
    for_registers(channels, [&](int64_t c, const auto& load) {
      line_to_planes<Kind, V>([&](int j) { return load(pixels[j]); }, out + c, distance);
    });
  else
    pair == 0 ? run.template operator()<0>() : pair == 1 ? run.template operator()<1>() : run.template operator()<2>();
}

/// A^T m A of planes to a tile's `kRows` x 4 pixels (null: outside) of an image that begins at `image`, finished. False
/// where a sum is not finite.
template <int kRows>
bool planes_to_output(const float* planes, int64_t distance, int64_t filters, const ConvFinish& finish,
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
    V half[kRows][kWindow];
#pragma GCC unroll 6
    for (int j = 0; j < kWindow; ++j) {
      const auto load = [&](int i) { return simd::load<float, N>(planes + (i * kWindow + j) * distance + c); };
      if constexpr (kRows == 1) {
        half[0][j] = load(0);
      } else {
        V v[kTile];
        output<V>(load(0), load(1), load(2), load(3), load(4), load(5), v);
#pragma GCC unroll 4
        for (int i = 0; i < kTile; ++i) half[i][j] = v[i];
      }
    }
    const V scale = finish.scale != nullptr ? load_part(finish.scale) : simd::splat<float, N>(1.0f);
    const V shift = finish.shift != nullptr ? load_part(finish.shift) : V{};
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
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

/// The weight of a group as the forward convolution of either direction reads it: (from, to) for each tap.
struct Taps {
  const float* data;
  int64_t from, to;  // channels read and channels written
  int64_t from_stride, to_stride;
  Size3 strides;  // of a tap: depth, row, column
};

/// The weight of a convolution as its products read it, G g G^T for every pair of channels, in panels as wide as a
/// product's tile: for each panel of the channels written and each part of the window, its planes (from, width).
class Filters {
 public:
  Filters(const Tiles& tiles, int64_t from, int64_t to)
      : parts_{tiles.kernel},
        line_(tiles.are_lines()),
        from_(from),
        to_(to),
        vectors_(ceil_div(ceil_div(to, kLanes), ceil_div(ceil_div(to, kLanes), kGemmTileVectors))),
        planes_(tiles.planes(), from, width()) {}

  const Parts& parts() const { return parts_; }
  int64_t panels() const { return ceil_div(to_, width()); }
  int64_t width() const { return vectors_ * kLanes; }
  int64_t vectors(int64_t panel) const { return ceil_div(std::min(width(), to_ - panel * width()), kLanes); }
  /// The floats of a panel.
  int64_t panel_size() const { return checked_multiply(parts_.count(), planes_.size()); }
  int64_t size() const { return checked_multiply(panels(), panel_size()); }
  /// Where in a panel a part's plane begins, and the distance of planes.
  int64_t plane(int64_t part, int64_t plane) const { return part * planes_.size() + plane * planes_.distance; }
  int64_t distance() const { return planes_.distance; }

  /// Panels [begin, end) to `out`.
  void transform(const Taps& taps, int64_t begin, int64_t end, float* out) const {
    const int64_t blocks = ceil_div(from_, kRows);
    parallel_for((end - begin) * parts_.count() * blocks, 1, [&](int64_t first, int64_t last) {
      const Scratch<float> copy(copy_size(taps));
      for (int64_t i = first; i < last; ++i) {
        const int64_t panel = i / (parts_.count() * blocks), part = i / blocks % parts_.count(),
                      row = i % blocks * kRows;
        transform_rows(taps, begin + panel, part, row, std::min(kRows, from_ - row), copy.data(),
                       out + panel * panel_size() + plane(part, 0) + row * vectors(begin + panel) * kLanes,
                       planes_.distance);
      }
    });
  }
  /// `count` rows of a panel's part, from `first` on, to planes so far apart. `copy` holds copy_size() floats.
  void transform_rows(const Taps& t, int64_t panel, int64_t index, int64_t first, int64_t count, float* copy,
                      float* out, int64_t distance) const {
    const Part part = parts_[index];
    const int64_t columns = std::min(width(), to_ - panel * width());
    const float* data = t.data + part.at[0] * t.strides[0] + part.at[1] * t.strides[1] + part.at[2] * t.strides[2] +
                        first * t.from_stride + panel * width() * t.to_stride;
    for (int64_t r = 0; r < count; r += kRows) {
      const int64_t rows = std::min(kRows, count - r);
      const float* g = data + r * t.from_stride;
      int64_t row = t.from_stride;
      Size3 tap(0, t.strides[1], t.strides[2]);
      if (t.to_stride != 1) {  // copied tap by tap, with contiguous channels of `to`
        for (int a = 0; a < part.rows; ++a)
          for (int b = 0; b < part.columns; ++b)
            copy_matrix_serial<float, float>({g + a * tap[1] + b * tap[2], rows, columns, t.from_stride, t.to_stride},
                                             {copy + (a * kTaps + b) * kRows * width(), rows, columns, width(), 1});
        g = copy, row = width(), tap = {0, kTaps * kRows * width(), kRows * width()};
      }
      for (int64_t c = 0; c < rows; ++c)
        for (int64_t v = 0; v < vectors(panel); ++v, out += kLanes)
          vector(part, g + c * row + v * kLanes, tap, static_cast<int>(std::min(kLanes, columns - v * kLanes)), out,
                 distance);
    }
  }
  int64_t copy_size(const Taps& taps) const { return taps.to_stride == 1 ? 0 : kTaps * kTaps * kRows * width(); }

 private:
  static constexpr int64_t kLanes = simd::kLanes<float>, kRows = 16;

  void vector(const Part& part, const float* g, const Size3& tap, int count, float* out, int64_t distance) const {
    using V = simd::Vec<float>;
    const auto load = [&](int a, int b) {
      if (a >= part.rows || b >= part.columns) return V{};
      const float* p = g + a * tap[1] + b * tap[2];
      return count == kLanes ? simd::load<float>(p) : simd::load_part<float>(p, count);
    };
    const auto line = [&](V g0, V g1, V g2, float* to) {
      V v[kWindow];
      weight<V>(g0, g1, g2, v);
      for (int j = 0; j < kWindow; ++j) simd::store<float>(to + j * distance, v[j]);
    };
    if (line_) return line(load(0, 0), load(0, 1), load(0, 2), out);
    V half[kWindow][kTaps];
    for (int b = 0; b < kTaps; ++b) {
      V v[kWindow];
      weight<V>(load(0, b), load(1, b), load(2, b), v);
      for (int i = 0; i < kWindow; ++i) half[i][b] = v[i];
    }
    for (int i = 0; i < kWindow; ++i) line(half[i][0], half[i][1], half[i][2], out + i * kWindow * distance);
  }

  Parts parts_;
  bool line_;
  int64_t from_, to_, vectors_;
  Planes planes_;
};

}  // namespace weft::kernels::cpu::winograd

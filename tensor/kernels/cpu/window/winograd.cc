#include "tensor/kernels/cpu/window/winograd.h"

#include <atomic>

#include "tensor/kernels/cpu/gemm/gemm_tile.h"
#include "tensor/kernels/cpu/window/tap_conv.h"
#include "tensor/kernels/cpu/window/winograd_tiles.h"

namespace weft::kernels::cpu {
namespace {

using winograd::kPlanes;
using winograd::kTile;
using winograd::kWindow;
using winograd::Planes;
using winograd::Tiles;

constexpr int64_t kLanes = simd::kLanes<float>;

int64_t blocks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// The weight of a group as the forward convolution of either direction reads it: (from, to) for each tap.
struct Taps {
  const float* data;
  int64_t from, to;  // channels read and channels written
  int64_t from_stride, to_stride, row_stride, column_stride;
};

/// G g G^T for every pair of channels, as products read it: 36 matrices (from, to) in panels as wide as a tile.
class TransformedWeight {
 public:
  /// `values` hold size() floats: what fill() writes.
  TransformedWeight(int64_t from, int64_t to, const float* values = nullptr)
      : from_(from),
        to_(to),
        vectors_(blocks_of(blocks_of(to, kLanes), blocks_of(blocks_of(to, kLanes), kGemmTileVectors))),
        distance_(Planes(from, to).distance),
        values_(values) {}

  int64_t size() const { return checked_multiply(kPlanes, distance_); }
  int64_t panels() const { return blocks_of(to_, width()); }
  int64_t width() const { return vectors_ * kLanes; }
  int64_t vectors(int64_t panel) const { return blocks_of(std::min(width(), to_ - panel * width()), kLanes); }
  const float* panel(int64_t plane, int64_t p) const { return values_ + plane * distance_ + p * width() * from_; }

  void fill(const Taps& taps, float* values) {
    values_ = values;
    if (taps.to_stride == 1) return transform(taps, values);
    const Scratch<float> copy(checked_multiply(9, from_ * to_));
    pack(taps, copy.data());
    transform({copy.data(), from_, to_, to_, 1, 3 * from_ * to_, from_ * to_}, values);
  }

 private:
  /// Taps side by side with neighbouring channels of `to`.
  static void pack(const Taps& t, float* copy) {
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        copy_matrix<float, float>(
            {t.data + a * t.row_stride + b * t.column_stride, t.from, t.to, t.from_stride, t.to_stride},
            row_major(copy + (a * 3 + b) * t.from * t.to, t.from, t.to));
  }

  void transform(const Taps& t, float* values) const {
    const int64_t rows = panels() * from_;
    parallel_for(rows, std::max<int64_t>(1, 2048 / width()), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t p = r / from_, c = r % from_;
        for (int64_t v = 0; v < vectors(p); ++v) {
          const int64_t o = p * width() + v * kLanes;
          vector(t, t.data + c * t.from_stride + o, static_cast<int>(std::min(kLanes, to_ - o)),
                 values + p * width() * from_ + (c * vectors(p) + v) * kLanes);
        }
      }
    });
  }
  void vector(const Taps& t, const float* g, int count, float* out) const {
    using V = simd::Vec<float>;
    V half[kWindow][3];
    for (int b = 0; b < 3; ++b) {
      const auto load = [&](int a) {
        const float* p = g + a * t.row_stride + b * t.column_stride;
        return count == kLanes ? simd::load<float>(p) : simd::load_part<float>(p, count);
      };
      V v[kWindow];
      winograd::weight<V>(load(0), load(1), load(2), v);
      for (int i = 0; i < kWindow; ++i) half[i][b] = v[i];
    }
    for (int i = 0; i < kWindow; ++i) {
      V v[kWindow];
      winograd::weight<V>(half[i][0], half[i][1], half[i][2], v);
      for (int j = 0; j < kWindow; ++j) simd::store<float>(out + (i * kWindow + j) * distance_, v[j]);
    }
  }

  int64_t from_, to_, vectors_, distance_;
  const float* values_;
};

/// Channels [channel, ...) of an image, `step` floats between its pixels.
template <class T> struct Image {
  T* data;
  int64_t step;
};

/// Tiles that are transformed, multiplied and transformed back together: their planes on both sides stay in the second
/// cache, or, where channels are many, are few enough of it. CPUs without AVX-512 have second caches of half the size.
int64_t tiles_at_once(int64_t from, int64_t to) {
  constexpr int64_t kElements = int64_t{160} << 10, kLeast = kLanes == 16 ? 48 : 24;
  return std::clamp<int64_t>(kElements / (kPlanes * (from + to)) / 12 * 12, kLeast, 96);
}

/// The products of one block of tiles: m = v u, plane by plane.
void multiply(const TransformedWeight& u, int64_t from, const float* v, const Planes& in, float* m, const Planes& out,
              int64_t tiles, int64_t first_panel, int64_t end_panel) {
  for (int64_t plane = 0; plane < kPlanes; ++plane)
    for (int64_t p = first_panel; p < end_panel; ++p) {
      const int64_t vectors = u.vectors(p), most = kGemmTileRows[static_cast<size_t>(vectors - 1)];
      const int64_t strips = blocks_of(tiles, most);
      float* c = m + plane * out.distance + (p - first_panel) * u.width();
      for (int64_t s = 0; s < strips; ++s) {
        const int64_t begin = tiles * s / strips, rows = tiles * (s + 1) / strips - begin;
        gemm_tile_function<float>(rows, vectors)({from, v + plane * in.distance + begin * in.columns, in.columns, 1,
                                                  u.panel(plane, p), vectors * kLanes, c + begin * out.columns,
                                                  out.columns, static_cast<int>(kLanes), nullptr, 0, nullptr});
      }
    }
}

/// One group's convolution: `in` with `from` channels, `out` with `to`.
class TiledConv {
 public:
  TiledConv(const Tiles& tiles, Image<const float> in, const TransformedWeight& u, const Taps& taps,
            const ConvFinish& finish, Image<float> out)
      : tiles_(tiles), in_(in), u_(u), from_(taps.from), to_(taps.to), finish_(finish), out_(out) {}

  bool run() const {
    const int64_t at_once = tiles_at_once(from_, to_), blocks = blocks_of(tiles_.count(), at_once);
    // Few tiles are shared out filter by filter, and transformed by each thread.
    const int64_t parts = std::min(u_.panels(), blocks_of(region_threads(), blocks));
    std::atomic<bool> clean{true};
    parallel_for(blocks * parts, 1, [&](int64_t begin, int64_t end) {
      const int64_t height = blocks_of(tiles_.count(), blocks);
      const Planes in(height, from_), out(height, blocks_of(u_.panels(), parts) * u_.width());
      const Scratch<float> v(in.size()), m(out.size()), zeros(from_);
      std::fill_n(zeros.data(), from_, 0.0f);
      int64_t transformed = -1;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t block = i / parts, part = i % parts;
        const int64_t first = tiles_.count() * block / blocks, last = tiles_.count() * (block + 1) / blocks;
        if (transformed != block) transform_in(first, last, in, v.data(), zeros.data());
        transformed = block;
        const int64_t panel = u_.panels() * part / parts, end_panel = u_.panels() * (part + 1) / parts;
        multiply(u_, from_, v.data(), in, m.data(), out, last - first, panel, end_panel);
        if (!transform_out(first, last, m.data(), out, panel * u_.width(), std::min(end_panel * u_.width(), to_)))
          clean.store(false, std::memory_order_relaxed);
      }
    });
    return clean.load();
  }

 private:
  void transform_in(int64_t first, int64_t last, const Planes& planes, float* v, const float* zeros) const {
    const int64_t image = tiles_.in[0] * tiles_.in[1] * in_.step;
    for (int64_t t = first; t < last; ++t) {
      const winograd::Corner at(tiles_, t);
      const float* pixels[kPlanes];
      winograd::square<kWindow, const float>(in_.data + at.image * image, in_.step, tiles_.in,
                                             at.row - tiles_.padding[0], at.column - tiles_.padding[1], zeros, pixels);
      winograd::input_to_planes(pixels, from_, v + (t - first) * planes.columns, planes.distance);
    }
  }
  bool transform_out(int64_t first, int64_t last, const float* m, const Planes& planes, int64_t begin,
                     int64_t end) const {
    const int64_t image = tiles_.out[0] * tiles_.out[1] * out_.step;
    bool clean = true;
    for (int64_t t = first; t < last; ++t) {
      const winograd::Corner at(tiles_, t);
      float* pixels[kTile * kTile];
      winograd::square<kTile, float>(out_.data + at.image * image + begin, out_.step, tiles_.out, at.row, at.column,
                                     nullptr, pixels);
      clean &= winograd::planes_to_output(m + (t - first) * planes.columns, planes.distance, end - begin,
                                          finish_.from(begin), out_.data + begin, pixels);
    }
    return clean;
  }

  const Tiles& tiles_;
  Image<const float> in_;
  const TransformedWeight& u_;
  int64_t from_, to_;
  const ConvFinish finish_;
  Image<float> out_;
};

/// f(first filter, taps, transformed weight) for chunks of a group's filters whose transformed weights (5 MB, or those
/// of 64 filters) stay in the last cache.
template <class F> void for_chunks(const Taps& taps, F&& f) {
  constexpr int64_t kElements = int64_t{5} << 18;
  const int64_t registers = blocks_of(taps.to, kLanes * kGemmTileVectors);
  const int64_t chunks = std::min(registers, blocks_of(kPlanes * taps.from * taps.to, kElements));
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t begin = std::min(taps.to, registers * i / chunks * kLanes * kGemmTileVectors);
    Taps part = taps;
    part.data += begin * taps.to_stride;
    part.to = std::min(taps.to, registers * (i + 1) / chunks * kLanes * kGemmTileVectors) - begin;
    f(begin, part, TransformedWeight(part.from, part.to));
  }
}

/// The convolution of a group. `kept` is its transformed weight, chunk after chunk; null: made here.
bool convolve(const Tiles& tiles, Image<const float> in, const Taps& taps, const float* kept, const ConvFinish& finish,
              Image<float> out) {
  bool clean = true;
  for_chunks(taps, [&](int64_t begin, const Taps& part, TransformedWeight u) {
    const Scratch<float> values(kept == nullptr ? u.size() : 0);
    if (kept == nullptr)
      u.fill(part, values.data());
    else
      u = TransformedWeight(part.from, part.to, kept), kept += u.size();
    clean &= TiledConv(tiles, in, u, part, finish.from(begin), {out.data + begin, out.step}).run();
  });
  return clean;
}

Taps forward_taps(const ConvShape& s, const float* weight, const WeightStrides& strides, int64_t group) {
  const int64_t filters = s.group_filters();
  return {weight + group * filters * strides[0],
          s.group_channels(),
          filters,
          strides[1],
          strides[0],
          strides[3],
          strides[4]};
}

}  // namespace

bool fits_winograd(const ConvShape& s) {
  return s.is_flat() && s.kernel == Triple(1, 3, 3) && s.stride == Triple(1) && s.dilation == Triple(1);
}

/// Fitted to 115 shapes of 3 to 512 channels and 7^2 to 56^2 pixels in batches of 1 to 16, one thread of Zen 5. In
/// about a cycle each: a step of direct convolution (of which a product for each tap, where few pixels ask for that,
/// leaves out those in the padding); the products of a tile, the transforms of its channels and its corner; the
/// transforms of a weight, which go through memory.
bool prefers_winograd(const ConvShape& s, ConvDirection direction, bool kept) {
  constexpr int64_t kLeast = 32;  // channels: with 16 transforms cost what products save
  if (!fits_winograd(s) || std::min(s.group_channels(), s.group_filters()) < kLeast) return false;
  const bool data = direction == ConvDirection::backward_data, weights = direction == ConvDirection::backward_weights;
  const auto c = static_cast<double>(s.group_channels()), k = static_cast<double>(s.group_filters());
  const auto across = [&](int axis) { return static_cast<double>(blocks_of(data ? s.in[axis] : s.out[axis], kTile)); };
  const double tiles = static_cast<double>(s.batch) * across(1) * across(2);
  const double direct = 9.0 / 32 * c * k * static_cast<double>(s.out_pixels()) * (prefers_taps(s) ? 0.8 : 1);
  const double of_tile = 1.7 * c * k + (weights ? 9 : 6) * (c + k) + (data ? 400 : 300);
  const double of_weight = kept ? 8 : weights ? 35 : data ? 30 : 25;
  return direct > 1.15 * (tiles * of_tile + of_weight * c * k);
}

int64_t winograd_weight_size(const ConvShape& s) {
  int64_t size = 0;
  for_chunks(forward_taps(s, nullptr, {}, 0),
             [&](int64_t, const Taps&, const TransformedWeight& u) { size += u.size(); });
  return checked_multiply(s.groups, size);
}

void winograd_weight(const ConvShape& s, const float* weight, const WeightStrides& strides, float* out) {
  for (int64_t g = 0; g < s.groups; ++g)
    for_chunks(forward_taps(s, weight, strides, g), [&](int64_t, const Taps& part, TransformedWeight u) {
      u.fill(part, out);
      out += u.size();
    });
}

bool winograd_conv(const ConvShape& s, const float* x, const float* weight, const WeightStrides& strides,
                   const float* kept, const ConvFinish& finish, float* out) {
  const Tiles tiles{s.batch, {s.in[1], s.in[2]}, {s.out[1], s.out[2]}, {s.padding[1], s.padding[2]}};
  const int64_t kept_size = kept == nullptr ? 0 : winograd_weight_size(s) / s.groups;
  bool clean = true;
  for (int64_t g = 0; g < s.groups; ++g)
    clean &= convolve(tiles, {x + g * s.group_channels(), s.channels}, forward_taps(s, weight, strides, g),
                      kept == nullptr ? nullptr : kept + g * kept_size, finish.from(g * s.group_filters()),
                      {out + g * s.group_filters(), s.filters});
  return clean;
}

/// A convolution of the gradient with the filters turned about, and 2 - padding zeros around it (fewer than none: some
/// of it is not read).
bool winograd_conv_backward_data(const ConvShape& s, const float* grad, const float* weight,
                                 const WeightStrides& strides, float* grad_x) {
  const Tiles tiles{s.batch, {s.out[1], s.out[2]}, {s.in[1], s.in[2]}, {2 - s.padding[1], 2 - s.padding[2]}};
  const int64_t channels = s.group_channels(), filters = s.group_filters();
  bool clean = true;
  for (int64_t g = 0; g < s.groups; ++g) {
    const Taps taps{weight + g * filters * strides[0] + 2 * strides[3] + 2 * strides[4],
                    filters,
                    channels,
                    strides[0],
                    strides[1],
                    -strides[3],
                    -strides[4]};
    clean &= convolve(tiles, {grad + g * filters, s.filters}, taps, nullptr, {}, {grad_x + g * channels, s.channels});
  }
  return clean;
}

}  // namespace weft::kernels::cpu

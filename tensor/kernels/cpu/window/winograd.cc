#include "tensor/kernels/cpu/window/winograd.h"

#include <atomic>

#include "tensor/kernels/cpu/window/tap_conv.h"
#include "tensor/kernels/cpu/window/winograd_tiles.h"

namespace weft::kernels::cpu {
namespace {

using winograd::Filters;
using winograd::kTile;
using winograd::kWindow;
using winograd::Part;
using winograd::Planes;
using winograd::Taps;
using winograd::Tiles;

constexpr int64_t kLanes = simd::kLanes<float>;
/// Tiles of a block at least: CPUs without AVX-512 have L2 caches of half the size.
constexpr int64_t kLeastTiles = kLanes == 16 ? 48 : 24;

/// Channels [channel, ...) of an image, `step` floats between its pixels.
template <class T> struct Channels {
  T* data;
  int64_t step;
};

/// Panels [begin, end) of filters and, unless null, what they are transformed to.
struct Panels {
  const float* data;
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

/// How a chunk's work is shared out: tiles in blocks, each transformed by the thread that has it, and panels in parts.
struct Cut {
  int64_t blocks, parts;

  /// `of_weight`: what a block pays for an element of the weight, as a tile pays 1.7 for its product.
  Cut(int64_t planes, int64_t tiles, int64_t from, int64_t width, int64_t panels, double of_weight) {
    // Planes of a block stay in the L2 cache on both sides, or, where channels are many, are few enough of it.
    constexpr int64_t kElements = int64_t{160} << 10;
    const int64_t most = kElements / (planes * (from + width * panels)) / 12 * 12;
    const int64_t at_once = std::clamp<int64_t>(most, kLeastTiles, 96 * 36 / planes);
    const int64_t least = ceil_div(tiles, at_once), threads = region_threads();
    blocks = least, parts = 1;
    // Even shares: of the ways to cut, the one whose slowest thread is done first.
    double soonest = 0;
    for (int64_t p = 1; p <= std::min(panels, ceil_div(threads, least)); ++p)
      for (const int64_t b : {least, ceil_div(least * p, threads) * threads / p}) {
        const int64_t height = ceil_div(tiles, b), rounds = ceil_div(b * p, threads);
        const auto rows = static_cast<double>(height), in = static_cast<double>(from),
                   out = static_cast<double>(width * ceil_div(panels, p)), of = static_cast<double>(planes) / 36;
        const double time =
            static_cast<double>(rounds) * of * (rows * (6 * (in + out) + 1.7 * in * out) + of_weight * in * out);
        if (soonest == 0 || time < soonest) soonest = time, blocks = b, parts = p;
      }
  }
};

/// Some channels of transformed filters: planes and panels of them are so far apart.
struct Rows {
  const float* data;
  int64_t count, plane_distance, panel_distance;
};

/// The products of one block of tiles: m = v u, plane by plane, or m += v u.
void multiply(const Filters& filters, const Panels& panels, const Rows& u, const float* v, const Planes& in, float* m,
              const Planes& out, int64_t tiles, bool adds) {
  for (int64_t plane = 0; plane < in.count; ++plane)
    for (int64_t p = panels.begin; p < panels.end; ++p) {
      const int64_t vectors = filters.vectors(p), skipped = p - panels.begin;
      const float* right = u.data + skipped * u.panel_distance + plane * u.plane_distance;
      float* c = m + plane * out.distance + skipped * filters.width();
      gemm_strips<float>({u.count, v + plane * in.distance, in.columns, 1, right, vectors * kLanes, c, out.columns,
                          static_cast<int>(kLanes), adds ? c : nullptr, adds ? out.columns : 0, nullptr},
                         tiles, vectors);
    }
}

/// One group's convolution: `in` with `from` channels, `out` with `to`.
class TiledConv {
 public:
  TiledConv(const Tiles& tiles, Channels<const float> in, const Filters& filters, const Taps& taps,
            const ConvFinish& finish, Channels<float> out)
      : tiles_(tiles), in_(in), filters_(filters), taps_(taps), finish_(finish), out_(out) {}

  /// Whether tiles are so few that the way of the transformed filters through memory would cost what products save:
  /// then a thread transforms some channels of a panel right before their products. By sizes alone, as sums are cut so.
  bool has_few_tiles() const {
    return filters_.parts().count() == 1 && tiles_.count() <= kLeastTiles && taps_.from > kSlice;
  }

  bool run(const Panels& all) const {
    const Cut cut(tiles_.planes(), tiles_.count(), taps_.from, filters_.width(), all.count(), has_few_tiles() ? 15 : 5);
    std::atomic<bool> clean{true};
    parallel_for(cut.blocks * cut.parts, 1, [&](int64_t begin, int64_t end) {
      const Work work(*this, ceil_div(tiles_.count(), cut.blocks),
                      has_few_tiles() ? 1 : ceil_div(all.count(), cut.parts), all.data == nullptr);
      int64_t transformed = -1;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t block = i / cut.parts, part = i % cut.parts, skipped = all.count() * part / cut.parts;
        const Range tiles{tiles_.count() * block / cut.blocks, tiles_.count() * (block + 1) / cut.blocks};
        const Panels panels{all.data == nullptr ? nullptr : all.data + skipped * filters_.panel_size(),
                            all.begin + skipped, all.begin + all.count() * (part + 1) / cut.parts};
        const bool again = transformed != block || filters_.parts().count() > 1;
        if (!(has_few_tiles() ? in_slices(tiles, panels, again, work) : in_parts(tiles, panels, again, work)))
          clean.store(false, std::memory_order_relaxed);
        transformed = block;
      }
    });
    return clean.load();
  }

 private:
  static constexpr int64_t kSlice = 64;  // channels

  struct Range {
    int64_t begin, end;
    int64_t count() const { return end - begin; }
  };

  /// A thread's scratch: planes of `height` tiles and, of the results, of as many panels; with `transforms` also of a
  /// panel's filters for a slice of channels.
  struct Work {
    Planes in, out, u;
    Scratch<float> v, m, zeros, slice, copy;
    Work(const TiledConv& conv, int64_t height, int64_t panels, bool transforms)
        : in(conv.tiles_.planes(), height, conv.taps_.from),
          out(conv.tiles_.planes(), height, panels * conv.filters_.width()),
          u(conv.tiles_.planes(), kSlice, conv.filters_.width()),
          v(in.size()),
          m(out.size()),
          zeros(conv.taps_.from),
          slice(transforms ? u.size() : 0),
          copy(transforms ? conv.filters_.copy_size(conv.taps_) : 0) {
      std::fill_n(zeros.data(), conv.taps_.from, 0.0f);
    }
  };

  bool in_parts(const Range& tiles, const Panels& panels, bool transform, const Work& w) const {
    for (int64_t part = 0; part < filters_.parts().count(); ++part) {
      if (transform) transform_in(filters_.parts()[part], tiles, w);
      multiply(filters_, panels,
               {panels.data + filters_.plane(part, 0), taps_.from, filters_.distance(), filters_.panel_size()},
               w.v.data(), w.in, w.m.data(), w.out, tiles.count(), part > 0);
    }
    return transform_out(tiles, panels, w);
  }

  bool in_slices(const Range& tiles, const Panels& panels, bool transform, const Work& w) const {
    if (transform) transform_in(filters_.parts()[0], tiles, w);
    bool clean = true;
    for (int64_t p = panels.begin; p < panels.end; ++p) {
      const Panels panel{nullptr, p, p + 1};
      for (int64_t c = 0; c < taps_.from; c += kSlice) {
        Rows u{w.slice.data(), std::min(kSlice, taps_.from - c), w.u.distance, 0};
        if (panels.data == nullptr) {
          filters_.transform_rows(taps_, p, 0, c, u.count, w.copy.data(), w.slice.data(), w.u.distance);
        } else {
          u.data = panels.data + (p - panels.begin) * filters_.panel_size() + c * filters_.vectors(p) * kLanes;
          u.plane_distance = filters_.distance();
        }
        multiply(filters_, panel, u, w.v.data() + c, w.in, w.m.data(), w.out, tiles.count(), c > 0);
      }
      clean &= transform_out(tiles, panel, w);
    }
    return clean;
  }

  void transform_in(const Part& part, const Range& range, const Work& w) const {
    const int64_t image = tiles_.in_pixels() * in_.step;
    for (int64_t t = range.begin; t < range.end; ++t) {
      const winograd::Corner at(tiles_, t);
      const float* pixels[kWindow * kWindow];
      winograd::window(tiles_, part, at, in_.data + at.image * image, in_.step, w.zeros.data(), pixels);
      winograd::window_to_planes(tiles_.are_lines(), pixels, taps_.from, w.v.data() + (t - range.begin) * w.in.columns,
                                 w.in.distance);
    }
  }
  /// False where a result is not finite.
  bool transform_out(const Range& range, const Panels& panels, const Work& w) const {
    const int64_t image = tiles_.out_pixels() * out_.step;
    const int64_t begin = panels.begin * filters_.width(), end = std::min(panels.end * filters_.width(), taps_.to);
    bool clean = true;
    for (int64_t t = range.begin; t < range.end; ++t) {
      const winograd::Corner at(tiles_, t);
      float* pixels[kTile * kTile];
      winograd::results<float>(tiles_, at, out_.data + at.image * image + begin, out_.step, nullptr, pixels);
      const auto to_output = tiles_.are_lines() ? winograd::planes_to_output<1> : winograd::planes_to_output<kTile>;
      clean &= to_output(w.m.data() + (t - range.begin) * w.out.columns, w.out.distance, end - begin,
                         finish_.from(begin), out_.data + begin, pixels);
    }
    return clean;
  }

  const Tiles& tiles_;
  Channels<const float> in_;
  const Filters& filters_;
  const Taps& taps_;
  const ConvFinish finish_;
  Channels<float> out_;
};

/// The convolution of a group. `packed` are its transformed filters; null: they are made here, by each thread for
/// itself where tiles are few, else in chunks that stay in the last-level cache (5 MB, or a panel for each thread up to
/// 4).
bool convolve(const Tiles& tiles, Channels<const float> in, const Taps& taps, const float* packed,
              const ConvFinish& finish, Channels<float> out) {
  constexpr int64_t kElements = int64_t{5} << 18;
  const Filters filters(tiles, taps.from, taps.to);
  const TiledConv conv(tiles, in, filters, taps, finish, out);
  if (conv.has_few_tiles()) return conv.run({packed, 0, filters.panels()});
  const int64_t most = std::max<int64_t>(kElements / filters.panel_size(), std::min(region_threads(), 4));
  const int64_t chunks = ceil_div(filters.panels(), most);
  const Scratch<float> values(packed == nullptr ? ceil_div(filters.panels(), chunks) * filters.panel_size() : 0);
  bool clean = true;
  for (int64_t i = 0; i < chunks; ++i) {
    const int64_t begin = filters.panels() * i / chunks, end = filters.panels() * (i + 1) / chunks;
    if (packed == nullptr) filters.transform(taps, begin, end, values.data());
    clean &= conv.run({packed == nullptr ? values.data() : packed + begin * filters.panel_size(), begin, end});
  }
  return clean;
}

/// The tiles of a convolution of the result's gradient, with kernel - 1 - padding zeros around it (fewer than none:
/// some of it is not read).
Tiles data_tiles(const ConvShape& s) {
  const auto padding = [&](int axis) { return s.kernel[axis] - 1 - s.padding[axis]; };
  return {s.batch, s.out, s.in, {padding(0), padding(1), padding(2)}, s.kernel};
}

Taps forward_taps(const ConvShape& s, const float* weight, const WeightStrides& strides, int64_t group) {
  return {weight + group * s.group_filters() * strides[0],
          s.group_channels(),
          s.group_filters(),
          strides[1],
          strides[0],
          {strides[2], strides[3], strides[4]}};
}

}  // namespace

bool fits_winograd(const ConvShape& s) {
  constexpr int64_t kMost = 7;  // of rows and columns
  const bool line = s.kernel[1] == 1 && s.kernel[2] >= 2, square = s.kernel[1] >= 2 && s.kernel[2] >= 2;
  return (line || square) && s.kernel[1] <= kMost && s.kernel[2] <= kMost && s.stride == Size3(1) &&
         s.dilation == Size3(1);
}

/// Fitted to 30 shapes of 32 to 512 channels, windows of 2 to 7 taps an axis and of one line, one thread of Zen 5. In
/// about a cycle each: a step of direct convolution (of which a product for each tap, where few pixels ask for that,
/// leaves out those in the padding); for each part of the window the products of a tile, the transforms of its channels
/// and its corner; the transforms of a weight, which go through memory.
bool prefers_winograd(const ConvShape& s, ConvDirection direction, bool packed) {
  constexpr int64_t kLeast = 32;  // channels: with 16 transforms cost what products save
  if (!fits_winograd(s) || std::min(s.group_channels(), s.group_filters()) < kLeast) return false;
  const bool data = direction == ConvDirection::backward_data, weights = direction == ConvDirection::backward_weights;
  const auto c = static_cast<double>(s.group_channels()), k = static_cast<double>(s.group_filters());
  const Filters filters(Tiles::of(s), s.group_channels(), s.group_filters());
  const auto parts = static_cast<double>(filters.parts().count());
  const bool line = s.kernel[1] == 1;
  const auto tiles = static_cast<double>((data ? data_tiles(s) : Tiles::of(s)).count());
  // oneDNN is slow where a weight's gradient sums lines, and fast where a window is large.
  const double speed = line ? (weights ? 0.7 : 1) : s.taps() > 9 ? 1.15 : prefers_taps(s) ? 1.25 : 1;
  const double direct = static_cast<double>(s.taps()) / 32 * c * k * static_cast<double>(s.out_pixels()) / speed;
  const double product = line ? (weights ? 0.25 : 0.2) : 1.55,
               transform = line      ? 2
                           : weights ? 14
                                     : 6,
               corner = line   ? 100
                        : data ? 400
                               : 300;
  const double of_tile = parts * (product * c * k + transform * c + corner) + transform * (weights ? parts : 1) * k;
  const double of_weight = (packed ? 8 : weights ? 15 : data ? 14 : 12) * parts * (line ? 1.0 / 3 : 1);
  return direct > 1.15 * (tiles * of_tile + of_weight * c * k);
}

int64_t winograd_weight_size(const ConvShape& s) {
  return checked_multiply(s.groups, Filters(Tiles::of(s), s.group_channels(), s.group_filters()).size());
}

void winograd_weight(const ConvShape& s, const float* weight, const WeightStrides& strides, float* out) {
  const Filters filters(Tiles::of(s), s.group_channels(), s.group_filters());
  for (int64_t g = 0; g < s.groups; ++g)
    filters.transform(forward_taps(s, weight, strides, g), 0, filters.panels(), out + g * filters.size());
}

bool winograd_conv(const ConvShape& s, const float* x, const float* weight, const WeightStrides& strides,
                   const float* packed, const ConvFinish& finish, float* out) {
  const Tiles tiles = Tiles::of(s);
  const int64_t packed_size = packed == nullptr ? 0 : winograd_weight_size(s) / s.groups;
  bool clean = true;
  for (int64_t g = 0; g < s.groups; ++g)
    clean &= convolve(tiles, {x + g * s.group_channels(), s.channels}, forward_taps(s, weight, strides, g),
                      packed == nullptr ? nullptr : packed + g * packed_size, finish.from(g * s.group_filters()),
                      {out + g * s.group_filters(), s.filters});
  return clean;
}

/// A convolution of the gradient with the filters rotated by 180 degrees, and their channels swapped.
bool winograd_conv_backward_data(const ConvShape& s, const float* grad, const float* weight,
                                 const WeightStrides& strides, float* grad_x) {
  const Tiles tiles = data_tiles(s);
  const int64_t last_tap =
      (s.kernel[0] - 1) * strides[2] + (s.kernel[1] - 1) * strides[3] + (s.kernel[2] - 1) * strides[4];
  const int64_t channels = s.group_channels(), filters = s.group_filters();
  bool clean = true;
  for (int64_t g = 0; g < s.groups; ++g) {
    const Taps taps{weight + g * filters * strides[0] + last_tap, filters, channels, strides[0], strides[1],
                    {-strides[2], -strides[3], -strides[4]}};
    clean &= convolve(tiles, {grad + g * filters, s.filters}, taps, nullptr, {}, {grad_x + g * channels, s.channels});
  }
  return clean;
}

}  // namespace weft::kernels::cpu

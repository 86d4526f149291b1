// The gradient of a weight by Winograd's filtering: the transpose of the forward's map from weight to result,
// dg = G^T [sum over tiles of (B^T d B)^T (A dy A^T)] G, plane by plane, for each part of the window.
//
// The weight is cut into blocks of channels and filters. A block reads all tiles three times, each time for 12 of its
// 36 matrices, which stay in the L2 cache meanwhile; each block transforms what it needs itself. Where blocks are few,
// the tiles are cut into shares, whose results are added in their order. Cuts depend on sizes alone, and so do the
// bits.
#include <algorithm>
#include <atomic>
#include <bit>

#include "tensor/kernels/cpu/window/winograd.h"
#include "tensor/kernels/cpu/window/winograd_tiles.h"

namespace weft::kernels::cpu {
namespace {

using winograd::kPairRows;
using winograd::kPairs;
using winograd::kTaps;
using winograd::kWindow;
using winograd::Parts;
using winograd::Planes;
using winograd::Tiles;

constexpr int64_t kLanes = simd::kLanes<float>;
/// Channels and filters of a block, and tiles that are transformed at once.
constexpr int64_t kChannels = 64, kFilters = 128, kTiles = 48;
/// Items of work that threads share out, at most by cutting the tiles, and tiles of a share at least.
constexpr int64_t kItems = 16, kShare = 64;

/// Block `i` of `count` things in blocks of about `size`, cut at whole registers.
struct Range {
  int64_t begin, end;
  Range(int64_t count, int64_t size, int64_t i) {
    const int64_t vectors = ceil_div(count, kLanes), blocks = ceil_div(count, size);
    begin = std::min(count, vectors * i / blocks * kLanes);
    end = std::min(count, vectors * (i + 1) / blocks * kLanes);
  }
  int64_t size() const { return end - begin; }
};

/// sum += v^T z, plane by plane, or = where `first`.
void multiply(const float* v, const Planes& left, const float* z, const Planes& right, int64_t tiles, float* sum,
              const Planes& to, int64_t channels, bool first) {
  const int64_t vectors = right.columns / kLanes, panels = ceil_div(vectors, kGemmTileVectors);
  for (int64_t plane = 0; plane < to.count; ++plane)
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t from = vectors * p / panels, width = vectors * (p + 1) / panels - from;
      float* c = sum + plane * to.distance + from * kLanes;
      gemm_strips<float>(
          {tiles, v + plane * left.distance, 1, left.columns, z + plane * right.distance + from * kLanes, right.columns,
           c, to.columns, static_cast<int>(kLanes), first ? nullptr : c, first ? 0 : to.columns, nullptr},
          channels, width);
    }
}

using V = simd::Vec<float>;

/// G^T u of a line of 6 planes, u(j).
template <class Planes> WEFT_SIMD void line_to_taps(const Planes& u, V* out) {
  for (int b = 0; b < kTaps; ++b) out[b] = V{};
  winograd::for_pairs([&]<int kPair>() {
    V v[kTaps];
    winograd::weight_gradient<kPair>(u(kPairRows[kPair][0]), u(kPairRows[kPair][1]), v);
    for (int b = 0; b < kTaps; ++b) out[b] += v[b];
  });
}

/// What a pair of rows of planes (rows, columns) adds to G^T u G, 9 of `columns` floats a row, `distance` apart; pair 0
/// comes first.
template <int kPair>
void pair_to_taps(const float* u, const Planes& planes, int64_t rows, float* out, int64_t distance) {
  for (int64_t i = 0; i < rows * planes.columns; i += kLanes) {
    V half[kTaps][kWindow];
    for (int j = 0; j < kWindow; ++j) {
      const float* p = u + j * planes.distance + i;
      V v[kTaps];
      winograd::weight_gradient<kPair>(simd::load<float>(p), simd::load<float>(p + kWindow * planes.distance), v);
      for (int a = 0; a < kTaps; ++a) half[a][j] = v[a];
    }
    for (int a = 0; a < kTaps; ++a) {
      V v[kTaps];
      line_to_taps([&](int j) { return half[a][j]; }, v);
      for (int b = 0; b < kTaps; ++b) {
        float* to = out + (a * kTaps + b) * distance + i;
        simd::store<float>(to, kPair == 0 ? v[b] : simd::load<float>(to) + v[b]);
      }
    }
  }
}

/// The same of lines, whose 6 planes give all 3 taps.
void lines_to_taps(const float* u, const Planes& planes, int64_t rows, float* out, int64_t distance) {
  for (int64_t i = 0; i < rows * planes.columns; i += kLanes) {
    V v[kTaps];
    line_to_taps([&](int j) { return simd::load<float>(u + j * planes.distance + i); }, v);
    for (int b = 0; b < kTaps; ++b) simd::store<float>(out + b * distance + i, v[b]);
  }
}

/// One group's gradient.
class WeightGradient {
 public:
  WeightGradient(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                 const WeightStrides& strides)
      : s_(s),
        tiles_(Tiles::of(s)),
        parts_{s.kernel},
        x_(x),
        grad_(grad),
        grad_weight_(grad_weight),
        strides_(strides),
        across_(ceil_div(s.group_channels(), kChannels)),
        down_(ceil_div(s.group_filters(), kFilters)),
        shares_(std::clamp<int64_t>(kItems / blocks(), 1, std::max<int64_t>(1, tiles_.count() / kShare))),
        sums_(shares_ == 1 ? 0 : checked_multiply(blocks() * shares_, area())) {}

  /// False where it is not finite.
  bool run() const {
    std::atomic<bool> clean = true;
    parallel_for(blocks() * shares_, 1, [&](int64_t begin, int64_t end) {
      const int64_t planes = pairs() == 1 ? kWindow : 2 * kWindow;
      const Planes channels(planes, kTiles, width(kChannels, s_.group_channels())),
          filters(planes, kTiles, width(kFilters, s_.group_filters())), sum(planes, channels.columns, filters.columns);
      const Scratch<float> v(channels.size()), z(filters.size()), u(sum.size()), zeros(kFilters),
          taps(shares_ == 1 ? area() : 0);
      std::fill_n(zeros.data(), kFilters, 0.0f);
      for (int64_t i = begin; i < end; ++i) {
        float* const to = shares_ == 1 ? taps.data() : sums_.data() + i * area();
        share(i, v.data(), z.data(), u.data(), zeros.data(), to);
        if (shares_ == 1 && !write(i, 0, channels_of(i).size(), to)) clean.store(false, std::memory_order_relaxed);
      }
    });
    if (shares_ == 1) return clean;
    constexpr int64_t kRows = 8;
    const int64_t chunks = kChannels / kRows;
    parallel_for(blocks() * chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (!add_shares(i / chunks, i % chunks * kRows, kRows)) clean.store(false, std::memory_order_relaxed);
    });
    return clean;
  }

 private:
  int64_t blocks() const { return parts_.count() * across_ * down_; }
  int64_t pairs() const { return tiles_.are_lines() ? 1 : kPairs; }
  int64_t taps() const { return tiles_.are_lines() ? kTaps : kTaps * kTaps; }
  /// The most of `count` channels or filters in a block, in whole registers.
  static int64_t width(int64_t block, int64_t count) { return std::min(block, ceil_div(count, kLanes) * kLanes); }
  /// The floats of a block's taps.
  int64_t area() const { return taps() * width(kChannels, s_.group_channels()) * width(kFilters, s_.group_filters()); }
  Range channels_of(int64_t block) const { return {s_.group_channels(), kChannels, block / down_ % across_}; }
  Range filters_of(int64_t block) const { return {s_.group_filters(), kFilters, block % down_}; }

  /// A share of the tiles of a block, to `taps` (taps, channels, filters in whole registers).
  void share(int64_t item, float* v, float* z, float* u, const float* zeros, float* taps) const {
    const int64_t block = item / shares_, at = item % shares_;
    const winograd::Part part = parts_[block / (across_ * down_)];
    const Range c = channels_of(block), o = filters_of(block);
    const bool line = tiles_.are_lines();
    const int64_t planes = line ? kWindow : 2 * kWindow;
    const Planes in(planes, kTiles, c.size()), out(planes, kTiles, o.size()), sum(planes, c.size(), o.size());
    const int64_t first = tiles_.count() * at / shares_, last = tiles_.count() * (at + 1) / shares_;
    const int64_t distance = c.size() * sum.columns;
    const int64_t in_image = tiles_.in_pixels() * s_.channels, out_image = tiles_.out_pixels() * s_.filters;
    for (int pair = 0; pair < pairs(); ++pair) {
      const int64_t chunks = ceil_div(last - first, kTiles);
      for (int64_t chunk = 0; chunk < chunks; ++chunk) {
        const int64_t t = first + (last - first) * chunk / chunks,
                      count = first + (last - first) * (chunk + 1) / chunks - t;
        for (int64_t i = 0; i < count; ++i) {
          const winograd::Corner corner(tiles_, t + i);
          const float* pixels[kWindow * kWindow];
          winograd::window(tiles_, part, corner, x_ + corner.image * in_image + c.begin, s_.channels, zeros, pixels);
          winograd::pair_to_planes<winograd::Window>(pair, line, pixels, c.size(), v + i * in.columns, in.distance);
          winograd::results<const float>(tiles_, corner, grad_ + corner.image * out_image + o.begin, s_.filters, zeros,
                                         pixels);
          winograd::pair_to_planes<winograd::Result>(pair, line, pixels, o.size(), z + i * out.columns, out.distance);
        }
        multiply(v, in, z, out, count, u, sum, c.size(), chunk == 0);
      }
      const auto to_taps = line        ? lines_to_taps
                           : pair == 0 ? pair_to_taps<0>
                           : pair == 1 ? pair_to_taps<1>
                                       : pair_to_taps<2>;
      to_taps(u, sum, c.size(), taps, distance);
    }
  }

  /// Sums the shares of some of a block's channels in their order and writes them out. False where they are not finite.
  bool add_shares(int64_t block, int64_t first, int64_t most) const {
    const Range c = channels_of(block), o = filters_of(block);
    const int64_t columns = ceil_div(o.size(), kLanes) * kLanes, rows = std::min(most, c.size() - first);
    if (rows <= 0) return true;
    float* const sums = sums_.data() + block * shares_ * area();
    for (int64_t tap = 0; tap < taps(); ++tap) {
      float* to = sums + (tap * c.size() + first) * columns;
      for (int64_t i = 0; i < rows * columns; i += kLanes) {
        V sum = simd::load<float>(to + i);
        for (int64_t share = 1; share < shares_; ++share) sum += simd::load<float>(to + i + share * area());
        simd::store<float>(to + i, sum);
      }
    }
    return write(block, first, rows, sums);
  }

  /// Channels [first, first + rows) of a block to the gradient: the taps that the part has. False where one is not
  /// finite.
  bool write(int64_t block, int64_t first, int64_t rows, const float* taps) const {
    constexpr uint32_t kExponent = 0x7f800000;
    const winograd::Part part = parts_[block / (across_ * down_)];
    const Range c = channels_of(block), o = filters_of(block);
    const int64_t columns = ceil_div(o.size(), kLanes) * kLanes;
    uint32_t largest = 0;
    for (int a = 0; a < part.rows; ++a)
      for (int b = 0; b < part.columns; ++b) {
        const float* tap = taps + ((a * kTaps + b) * c.size() + first) * columns;
        for (int64_t i = 0; i < rows * columns; ++i)
          largest = std::max(largest, std::bit_cast<uint32_t>(tap[i]) & kExponent);
        float* to = grad_weight_ + o.begin * strides_[0] + (c.begin + first) * strides_[1] + part.at[0] * strides_[2] +
                    (part.at[1] + a) * strides_[3] + (part.at[2] + b) * strides_[4];
        copy_matrix_serial<float, float>({tap, rows, o.size(), columns, 1},
                                         {to, rows, o.size(), strides_[1], strides_[0]});
      }
    return largest != kExponent;
  }

  const ConvShape& s_;
  Tiles tiles_;
  Parts parts_;
  const float *x_, *grad_;
  float* grad_weight_;
  WeightStrides strides_;
  int64_t across_, down_, shares_;
  Scratch<float> sums_;  // (blocks, shares, taps, channels, filters)
};

}  // namespace

bool winograd_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                    const WeightStrides& strides) {
  bool clean = true;
  for (int64_t g = 0; g < s.groups; ++g)
    clean &= WeightGradient(s, x + g * s.group_channels(), grad + g * s.group_filters(),
                            grad_weight + g * s.group_filters() * strides[0], strides)
                 .run();
  return clean;
}

}  // namespace weft::kernels::cpu

// The gradient of a 3 x 3 weight by Winograd's filtering: the transpose of the forward's map from weight to result,
// dg = G^T [sum over tiles of (B^T d B)^T (A dy A^T)] G, plane by plane.
//
// The weight is cut into blocks of channels and filters whose 36 matrices stay in the second cache while all tiles pass
// by; each block transforms what it needs itself. Where blocks are few, the tiles are cut into parts, whose 3 x 3
// results are added in their order. Cuts depend on sizes alone, and so do the bits.
#include <algorithm>
#include <atomic>
#include <bit>

#include "tensor/kernels/cpu/gemm/gemm_tile.h"
#include "tensor/kernels/cpu/window/winograd.h"
#include "tensor/kernels/cpu/window/winograd_tiles.h"

namespace weft::kernels::cpu {
namespace {

using winograd::kPlanes;
using winograd::kTile;
using winograd::kWindow;
using winograd::Planes;
using winograd::Tiles;

constexpr int64_t kLanes = simd::kLanes<float>;
/// Channels and filters of a block, the first that gives kEnough items of work, and tiles that are transformed at once.
constexpr int64_t kBlocks[] = {128, 64}, kTiles = 48;
/// Items of work that threads share out, at most by cutting the tiles, and at least if by cutting the weight.
constexpr int64_t kParts = 16, kEnough = 8;

int64_t blocks_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

/// Block `i` of `count` things in blocks of about `size`, cut at whole registers.
struct Range {
  int64_t begin, end;
  Range(int64_t count, int64_t size, int64_t i) {
    const int64_t vectors = blocks_of(count, kLanes), blocks = blocks_of(count, size);
    begin = std::min(count, vectors * i / blocks * kLanes);
    end = std::min(count, vectors * (i + 1) / blocks * kLanes);
  }
  int64_t size() const { return end - begin; }
};

/// sum += v^T z, plane by plane, or = where `first`.
void multiply(const float* v, const Planes& left, const float* z, const Planes& right, int64_t tiles, float* sum,
              const Planes& to, int64_t channels, bool first) {
  const int64_t vectors = right.columns / kLanes, panels = blocks_of(vectors, kGemmTileVectors);
  for (int64_t plane = 0; plane < kPlanes; ++plane)
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t from = vectors * p / panels, width = vectors * (p + 1) / panels - from;
      const int64_t strips = blocks_of(channels, kGemmTileRows[static_cast<size_t>(width - 1)]);
      for (int64_t s = 0; s < strips; ++s) {
        const int64_t begin = channels * s / strips, rows = channels * (s + 1) / strips - begin;
        float* c = sum + plane * to.distance + begin * to.columns + from * kLanes;
        gemm_tile_function<float>(
            rows, width)({tiles, v + plane * left.distance + begin, 1, left.columns,
                          z + plane * right.distance + from * kLanes, right.columns, c, to.columns,
                          static_cast<int>(kLanes), first ? nullptr : c, first ? 0 : to.columns, nullptr});
      }
    }
}

/// G^T u G of 36 planes (rows, columns) to 9 of `columns` floats a row, `distance` apart.
void planes_to_taps(const float* u, const Planes& planes, int64_t rows, float* out, int64_t distance) {
  using V = simd::Vec<float>;
  for (int64_t i = 0; i < rows * planes.columns; i += kLanes) {
    V half[3][kWindow];
    for (int j = 0; j < kWindow; ++j) {
      const auto load = [&](int k) { return simd::load<float>(u + (k * kWindow + j) * planes.distance + i); };
      V v[3];
      winograd::weight_gradient<V>(load(0), load(1), load(2), load(3), load(4), load(5), v);
      for (int a = 0; a < 3; ++a) half[a][j] = v[a];
    }
    for (int a = 0; a < 3; ++a) {
      V v[3];
      winograd::weight_gradient<V>(half[a][0], half[a][1], half[a][2], half[a][3], half[a][4], half[a][5], v);
      for (int b = 0; b < 3; ++b) simd::store<float>(out + (a * 3 + b) * distance + i, v[b]);
    }
  }
}

/// How the work is cut, by sizes alone.
struct Cut {
  int64_t size = 0, across = 0, down = 0, parts = 0;

  Cut(const ConvShape& s, int64_t tiles) {
    for (const int64_t block : kBlocks) {
      size = block;
      across = blocks_of(s.group_channels(), block), down = blocks_of(s.group_filters(), block);
      parts = std::clamp<int64_t>(kParts / (across * down), 1, blocks_of(tiles, kTiles));
      if (items() >= kEnough) return;
    }
  }
  int64_t items() const { return across * down * parts; }
  int64_t area() const { return size * size; }
};

/// One group's gradient.
class WeightGradient {
 public:
  WeightGradient(const ConvShape& s, const float* x, const float* grad)
      : s_(s),
        tiles_{s.batch, {s.in[1], s.in[2]}, {s.out[1], s.out[2]}, {s.padding[1], s.padding[2]}},
        x_(x),
        grad_(grad),
        cut_(s, tiles_.count()),
        taps_(checked_multiply(cut_.items(), 9 * cut_.area())) {}

  /// Adds up to the result; false where it is not finite.
  bool run(float* grad_weight, const WeightStrides& strides) const {
    parallel_for(cut_.items(), 1, [&](int64_t begin, int64_t end) {
      const int64_t width = cut_.size;
      const Planes side(kTiles, width), sum(width, width);
      const Scratch<float> v(side.size()), z(side.size()), u(sum.size()), zeros(width);
      std::fill_n(zeros.data(), width, 0.0f);
      for (int64_t i = begin; i < end; ++i) part(i, v.data(), z.data(), u.data(), zeros.data());
    });
    std::atomic<bool> clean = true;
    const int64_t chunks = blocks_of(cut_.size, kLanes);  // of a block's filters: no two threads write to one line
    parallel_for(cut_.across * cut_.down * chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        if (!finish(i / chunks, i % chunks * kLanes, grad_weight, strides))
          clean.store(false, std::memory_order_relaxed);
    });
    return clean;
  }

 private:
  Range channels(int64_t block) const { return {s_.group_channels(), cut_.size, block / cut_.down}; }
  Range filters(int64_t block) const { return {s_.group_filters(), cut_.size, block % cut_.down}; }

  void part(int64_t item, float* v, float* z, float* u, const float* zeros) const {
    const int64_t block = item / cut_.parts, at = item % cut_.parts;
    const Range c = channels(block), o = filters(block);
    const Planes in(kTiles, c.size()), out(kTiles, o.size()), sum(c.size(), o.size());
    const int64_t first = tiles_.count() * at / cut_.parts, last = tiles_.count() * (at + 1) / cut_.parts;
    for (int64_t t = first; t < last; t += kTiles) {
      const int64_t count = std::min(kTiles, last - t);
      for (int64_t i = 0; i < count; ++i) {
        const winograd::Corner corner(tiles_, t + i);
        const float* pixels[kPlanes];
        winograd::square<kWindow, const float>(x_ + corner.image * tiles_.in[0] * tiles_.in[1] * s_.channels + c.begin,
                                               s_.channels, tiles_.in, corner.row - tiles_.padding[0],
                                               corner.column - tiles_.padding[1], zeros, pixels);
        winograd::input_to_planes(pixels, c.size(), v + i * in.columns, in.distance);
        winograd::square<kTile, const float>(
            grad_ + corner.image * tiles_.out[0] * tiles_.out[1] * s_.filters + o.begin, s_.filters, tiles_.out,
            corner.row, corner.column, zeros, pixels);
        winograd::gradient_to_planes(pixels, o.size(), z + i * out.columns, out.distance);
      }
      multiply(v, in, z, out, count, u, sum, c.size(), t == first);
    }
    planes_to_taps(u, sum, c.size(), taps_.data() + item * 9 * cut_.area(), c.size() * sum.columns);
  }

  /// Sums the parts of a register of a block's filters, from `first` on, in their order and writes them out. False
  /// where they are not finite.
  bool finish(int64_t block, int64_t first, float* grad_weight, const WeightStrides& strides) const {
    constexpr uint32_t kExponent = 0x7f800000;
    const Range c = channels(block), o = filters(block);
    if (first >= o.size()) return true;
    const int64_t columns = blocks_of(o.size(), kLanes) * kLanes, width = std::min<int64_t>(kLanes, o.size() - first);
    uint32_t largest = 0;
    for (int64_t tap = 0; tap < 9; ++tap) {
      float* sum = taps_.data() + block * cut_.parts * 9 * cut_.area() + tap * c.size() * columns + first;
      for (int64_t i = 0; i < c.size(); ++i) {
        float* row = sum + i * columns;
        for (int64_t p = 1; p < cut_.parts; ++p)
          for (int64_t j = 0; j < kLanes; ++j) row[j] += row[p * 9 * cut_.area() + j];
        for (int64_t j = 0; j < kLanes; ++j) largest = std::max(largest, std::bit_cast<uint32_t>(row[j]) & kExponent);
      }
      copy_matrix_serial<float, float>({sum, c.size(), width, columns, 1},
                                       {grad_weight + (o.begin + first) * strides[0] + c.begin * strides[1] +
                                            tap / 3 * strides[3] + tap % 3 * strides[4],
                                        c.size(), width, strides[1], strides[0]});
    }
    return largest != kExponent;
  }

  const ConvShape& s_;
  Tiles tiles_;
  const float *x_, *grad_;
  Cut cut_;
  Scratch<float> taps_;  // (blocks, parts, 9, channels, filters)
};

}  // namespace

bool winograd_conv_backward_weights(const ConvShape& s, const float* x, const float* grad, float* grad_weight,
                                    const WeightStrides& strides) {
  bool clean = true;
  for (int64_t g = 0; g < s.groups; ++g)
    clean &= WeightGradient(s, x + g * s.group_channels(), grad + g * s.group_filters())
                 .run(grad_weight + g * s.group_filters() * strides[0], strides);
  return clean;
}

}  // namespace weft::kernels::cpu

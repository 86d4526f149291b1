// A product is cut into parts for threads, each into groups of b's columns that stay in the L2 cache, packed in
// pairs into panels as wide as a tile (bf16_tile.h). Strips of a's rows are then multiplied by the panels. a is read in
// place if its column stride is 1; else it is packed in pairs too, some strips at a time. Long sums are computed in
// passes, with f32 between them (half_product.h).
//
// A sum runs over k in one order, cut into passes by its length: its bits do not depend on the thread count.
#include "tensor/kernels/cpu/gemm/bf16_gemm.h"

#include <algorithm>
#include <cstring>

#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/gemm/bf16_tile.h"
#include "tensor/kernels/cpu/gemm/half_product.h"

namespace weft::kernels::cpu::bf16 {

bool has_instruction() {
#ifdef WEFT_BF16_INSTRUCTION
  return onednn::has_bf16();
#else
  return false;
#endif
}

bool has_fast_instruction() { return has_instruction() && onednn::has_fast_bf16(); }

namespace {

/// Rows of a that are packed together: a cache line holds 32 of them.
constexpr int64_t kPackedRows = 96;

/// The first `count` of N halves at p, the others zero.
template <class Vector> WEFT_SIMD Vector load_halves(const BFloat16* p, int64_t count) {
  Vector v{};
  if (count * 2 >= static_cast<int64_t>(sizeof v)) {
    std::memcpy(&v, p, sizeof v);
  } else {
    const auto part =
        simd::load_part<uint16_t, sizeof(Vector) / 2>(reinterpret_cast<const uint16_t*>(p), static_cast<int>(count));
    std::memcpy(&v, &part, sizeof v);
  }
  return v;
}

/// Words of a matrix whose column stride is 1: row k / 2 at out + k / 2 * width, zeros up to a full register.
void pack_rows(const Matrix<const BFloat16>& b, uint32_t* out, int64_t width) {
  using Halves = simd::Vec<uint16_t, kLanes>;
  for (int64_t k = 0; k < b.rows; k += 2, out += width) {
    const BFloat16* even = b.data + k * b.row_stride;
    const bool single = k + 1 == b.rows;
    for (int64_t j = 0; j < b.columns; j += kLanes) {
      const int64_t count = b.columns - j;
      const auto lower = load_halves<Halves>(even + j, count);
      const auto upper = single ? Halves{} : load_halves<Halves>(even + b.row_stride + j, count);
      simd::store<uint32_t>(
          out + j, simd::convert_lanes<uint32_t, kLanes>(lower) | simd::convert_lanes<uint32_t, kLanes>(upper) << 16);
    }
  }
}

/// The same where its row stride is 1: two adjacent values are a word already, so this is a transposition of words.
void pack_columns(const Matrix<const BFloat16>& b, uint32_t* out, int64_t width) {
  for (int64_t j = 0; j < b.columns; j += kLanes) {
    const int64_t columns = std::min<int64_t>(kLanes, b.columns - j);
    for (int64_t k = 0; k < b.rows; k += 2 * kLanes) {
      const int64_t halves = b.rows - k, depth = std::min<int64_t>(kLanes, ceil_div(halves, 2));
      const BFloat16* in = b.data + k + j * b.column_stride;
      Words block[kLanes];
      if (columns == kLanes && halves >= 2 * kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) std::memcpy(&block[i], in + i * b.column_stride, sizeof block[i]);
      } else {
        for (int i = 0; i < kLanes; ++i)
          block[i] = i < columns ? load_halves<Words>(in + i * b.column_stride, halves) : Words{};
      }
      simd::transpose<uint32_t>(block);
      uint32_t* to = out + k / 2 * width + j;
      if (depth == kLanes) {
#pragma GCC unroll 16
        for (int i = 0; i < kLanes; ++i) simd::store<uint32_t>(to + i * width, block[i]);
      } else {
        for (int64_t i = 0; i < depth; ++i) simd::store<uint32_t>(to + i * width, block[i]);
      }
    }
  }
}

}  // namespace

void pack(const Matrix<const BFloat16>& b, uint32_t* out, int64_t width) {
  b.column_stride == 1 ? pack_rows(b, out, width) : pack_columns(b, out, width);
}

namespace {

/// One thread's part of a product.
template <class Way, class Out> class Part {
 public:
  Part(const HalfProduct<BFloat16, Out>& product, const HalfCut& cut)
      : p_(product),
        cut_(cut),
        in_place_(product.a.column_stride == 1),
        passes_(ceil_div(product.a.columns, cut.depth)),
        packed_b_(cut.depth / 2 * std::min(cut.group, ceil_div(product.b.columns, kLanes) * kLanes)),
        packed_a_(in_place_ ? 0 : cut.depth / 2 * kPackedRows),
        sums_(passes_ == 1 ? 0 : product.a.rows * cut.group) {}

  void run() {
    for_passes(p_, cut_, [&](const HalfPass& pass) {
      pass_ = pass;
      for (int64_t j = 0; j < pass.columns; j += cut_.panel) {
        const int64_t width = std::min(cut_.panel, pass.columns - j);
        pack(p_.b.block(pass.k, pass.j + j, pass.depth, width), panel(j), width_of(width));
      }
      if (in_place_) {
        strips(0, p_.a.rows, p_.a.data + pass.k, p_.a.row_stride, 2);
      } else {
        for (int64_t i = 0; i < p_.a.rows; i += kPackedRows) packed_strips(i);
      }
    });
  }

 private:
  static int64_t width_of(int64_t columns) { return ceil_div(columns, kLanes) * kLanes; }
  uint32_t* panel(int64_t j) const { return packed_b_.data() + j * words(); }
  int64_t words() const { return ceil_div(pass_.depth, 2); }

  void packed_strips(int64_t first) {
    const int64_t rows = std::min(kPackedRows, p_.a.rows - first);
    pack_rows(p_.a.block(first, pass_.k, rows, pass_.depth).transposed(), packed_a_.data(), kPackedRows);
    strips(first, rows, reinterpret_cast<const BFloat16*>(packed_a_.data()), 2, 2 * kPackedRows);
  }

  /// The rows [first, first + count), whose words lie at `a`, rows and words so many halves apart.
  void strips(int64_t first, int64_t count, const BFloat16* a, int64_t row, int64_t step) {
    for_tiles(pass_, cut_, count,
              [&](int64_t i, int64_t rows, int64_t j) { tile(first + i, rows, a + i * row, row, step, j); });
  }

  void tile(int64_t i, int64_t rows, const BFloat16* a, int64_t row, int64_t step, int64_t j) {
    const int64_t columns = std::min(cut_.panel, pass_.columns - j), vectors = ceil_div(columns, kLanes);
    const int last = static_cast<int>((columns - 1) % kLanes + 1);
    float* sums = passes_ == 1 ? nullptr : sums_.data() + i * cut_.group + j;
    const float* start = pass_.k > 0 ? sums : nullptr;
    if (pass_.k + pass_.depth < p_.a.columns)
      return tile_function<Way, float>(rows, vectors)(
          {words(), a, row, step, panel(j), width_of(columns), sums, cut_.group, last, start, cut_.group, nullptr, 0});
    Out* c = p_.c.data + i * p_.c.row_stride + pass_.j + j;
    const Out* add = p_.accumulate ? c : p_.bias == nullptr ? nullptr : p_.bias + pass_.j + j;
    tile_function<Way, Out>(rows, vectors)({words(), a, row, step, panel(j), width_of(columns), c, p_.c.row_stride,
                                            last, start, cut_.group, add, p_.accumulate ? p_.c.row_stride : 0});
  }

  const HalfProduct<BFloat16, Out>& p_;
  const HalfCut& cut_;
  const bool in_place_;
  const int64_t passes_;
  const Scratch<uint32_t> packed_b_, packed_a_;
  const Scratch<float> sums_;
  HalfPass pass_{};
};

template <class Way, class Out> void run(const HalfProduct<BFloat16, Out>& p) {
  const HalfCut cut(p.a.columns, p.b.columns, 2, kLanes, kTileRows);
  for_blocks(p, cut, [&](const HalfProduct<BFloat16, Out>& block) { Part<Way, Out>(block, cut).run(); });
}

template <class Out> void run(const HalfProduct<BFloat16, Out>& p) {
#ifdef WEFT_BF16_INSTRUCTION
  if (has_instruction()) return run<Instruction, Out>(p);
#endif
  run<Widened, Out>(p);
}

TileFunction<float> sum_tile(int64_t rows, int64_t vectors) {
#ifdef WEFT_BF16_INSTRUCTION
  if (has_instruction()) return tile_function<Instruction, float>(rows, vectors);
#endif
  return tile_function<Widened, float>(rows, vectors);
}

}  // namespace

template <class Out>
void gemm(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<Out> c, bool accumulate, const Out* bias) {
  if (a.column_stride != 1 || a.columns % 2 == 0) return run<Out>({a, b, c, accumulate, bias});
  // Words of a row must not reach beyond it: what lies there times zero may be NaN.
  const int64_t width = a.columns + 1;
  const Scratch<BFloat16> copy(checked_multiply(a.rows, width));
  for (int64_t i = 0; i < a.rows; ++i) copy.data()[i * width + a.columns] = BFloat16();
  const Matrix<BFloat16> even = {copy.data(), a.rows, a.columns, width, 1};
  copy_matrix<BFloat16, BFloat16>(a, even);
  run<Out>({even, b, c, accumulate, bias});
}

void product(const BFloat16* a, int64_t a_row, const uint32_t* b, int64_t b_row, float* c, int64_t c_row, int64_t rows,
             int64_t columns, int64_t depth, bool accumulate) {
  const int64_t vectors = columns / kLanes, parts = ceil_div(vectors, kTileVectors);
  for (int64_t p = 0; p < parts; ++p) {
    const int64_t first = vectors * p / parts, width = vectors * (p + 1) / parts - first, j = first * kLanes;
    const Strips strips(rows, kTileRows[static_cast<size_t>(width - 1)]);
    for (int64_t s = 0; s < strips.count; ++s) {
      const int64_t i = strips.first(s), height = strips.rows(s);
      float* out = c + i * c_row + j;
      sum_tile(height, width)({depth / 2, a + i * a_row, a_row, 2, b + j, b_row, out, c_row, kLanes,
                               accumulate ? out : nullptr, c_row, nullptr, 0});
    }
  }
}

template void gemm<BFloat16>(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<BFloat16>, bool, const BFloat16*);
template void gemm<float>(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<float>, bool, const float*);

}  // namespace weft::kernels::cpu::bf16

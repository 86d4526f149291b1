// As packed_gemm.cc, with every operand packed: the columns of b in groups that stay in the L2 cache, each in
// panels as wide as a tile; the rows of a some strips at a time. Long sums go in passes, with f32 between them
// (half_product.h).
//
// A sum runs over k in one order, cut into passes by its length: its bits do not depend on the thread count.
#include "tensor/kernels/cpu/gemm/half_gemm.h"

#include <type_traits>

#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/gemm/gemm_tile.h"
#include "tensor/kernels/cpu/gemm/half_product.h"
#include "tensor/kernels/cpu/gemm/panel_packing.h"

namespace weft::kernels::cpu {
namespace {

constexpr int N = simd::kLanes<float>;
/// Rows of a that are packed together: all heights of tiles divide it.
constexpr int64_t kPackedRows = 96;
/// Elements between packed rows of a: lengths that are powers of two would map to one set of the L1 cache.
constexpr int64_t kGap = 16;

/// One thread's part of a product.
template <class H, class Out> class Part {
  static constexpr bool kRounds = !std::is_same_v<Out, float>;

 public:
  Part(const HalfProduct<H, Out>& product, const HalfCut& cut)
      : p_(product),
        cut_(cut),
        one_pass_(product.a.columns <= cut.depth),
        packed_b_(cut.depth * std::min(cut.group, ceil_div(product.b.columns, N) * N)),
        packed_a_((cut.depth + kGap) * std::min(kPackedRows, ceil_div(product.a.rows, N) * N)),
        sums_(!kRounds    ? 0
              : one_pass_ ? cut.rows * cut.panel
                          : product.a.rows * cut.group) {}

  void run() {
    for_passes(p_, cut_, [&](const HalfPass& pass) {
      pass_ = pass;
      for (int64_t j = 0; j < pass.columns; j += cut_.panel) {
        const int64_t width = std::min(cut_.panel, pass.columns - j);
        pack_panel<float, H>(p_.b.block(pass.k, pass.j + j, pass.depth, width), panel(j), width_of(width));
      }
      for (int64_t i = 0; i < p_.a.rows; i += kPackedRows) strips(i, std::min(kPackedRows, p_.a.rows - i));
    });
  }

 private:
  struct Rows {  // of a, packed: (r, k) at data + r * row + k * step
    const float* data;
    int64_t row, step;
  };

  static int64_t width_of(int64_t columns) { return ceil_div(columns, N) * N; }
  float* panel(int64_t j) const { return packed_b_.data() + j * pass_.depth; }
  bool is_first() const { return pass_.k == 0; }
  bool is_last() const { return pass_.k + pass_.depth == p_.a.columns; }

  /// The rows [first, first + rows) of a in this pass; each contiguous where a has that layout, else interleaved.
  Rows pack(int64_t first, int64_t rows) const {
    const Matrix<const H> from = p_.a.block(first, pass_.k, rows, pass_.depth);
    if (from.column_stride != 1) {
      const int64_t step = std::min(kPackedRows, ceil_div(p_.a.rows, N) * N);
      pack_rows<float, H>(from.transposed(), packed_a_.data(), step);
      return {packed_a_.data(), 1, step};
    }
    const int64_t row = cut_.depth + kGap;
    for (int64_t r = 0; r < rows; ++r) {
      const H* in = from.data + r * from.row_stride;
      float* out = packed_a_.data() + r * row;
      int64_t k = 0;
      for (; k + N <= from.columns; k += N) simd::store<float>(out + k, simd::load<float>(in + k));
      for (; k < from.columns; ++k) out[k] = static_cast<float>(in[k]);
    }
    return {packed_a_.data(), row, 1};
  }

  void strips(int64_t first, int64_t count) {
    const Rows a = pack(first, count);
    for_tiles(pass_, cut_, count, [&](int64_t i, int64_t rows, int64_t j) {
      tile({a.data + i * a.row, a.row, a.step}, first + i, rows, j);
    });
  }

  void tile(const Rows& a, int64_t i, int64_t rows, int64_t j) {
    const int64_t columns = std::min(cut_.panel, pass_.columns - j);
    const auto run = [&](float* to, int64_t to_row, int last, const float* add, int64_t add_row) {
      gemm_tile_function<float>(rows, ceil_div(columns, N))(
          {pass_.depth, a.data, a.row, a.step, panel(j), width_of(columns), to, to_row, last, add, add_row, nullptr});
    };
    Out* c = p_.c.data + i * p_.c.row_stride + pass_.j + j;
    const Out* bias = p_.bias == nullptr ? nullptr : p_.bias + pass_.j + j;
    if constexpr (!kRounds) {
      const bool adds = p_.accumulate || !is_first();
      run(c, p_.c.row_stride, static_cast<int>((columns - 1) % N + 1), adds ? c : bias, adds ? p_.c.row_stride : 0);
    } else {
      const int64_t row = one_pass_ ? cut_.panel : cut_.group;
      float* sums = sums_.data() + (one_pass_ ? 0 : i * row + j);
      run(sums, row, N, is_first() ? nullptr : sums, row);
      if (!is_last()) return;
      const Out* add = p_.accumulate ? c : bias;
      for (int64_t r = 0; r < rows; ++r)
        round(sums + r * row, c + r * p_.c.row_stride,
              add == nullptr ? nullptr : add + (p_.accumulate ? r * p_.c.row_stride : 0), columns);
    }
  }

  static void round(const float* from, Out* to, const Out* add, int64_t count) {
    for (int64_t j = 0; j < count; j += N) {
      const int lanes = static_cast<int>(std::min<int64_t>(N, count - j));
      simd::Vec<float> sum = simd::load<float>(from + j);
      if (add != nullptr) sum += simd::load_part<float>(add + j, lanes);
      simd::store_part<float>(to + j, sum, lanes);
    }
  }

  const HalfProduct<H, Out>& p_;
  const HalfCut& cut_;
  const bool one_pass_;
  const Scratch<float> packed_b_, packed_a_, sums_;
  HalfPass pass_{};
};

}  // namespace

template <class H, class Out>
void half_gemm(Matrix<const H> a, Matrix<const H> b, Matrix<Out> c, bool accumulate, const Out* bias) {
  const HalfProduct<H, Out> product{a, b, c, accumulate, bias};
  const HalfCut cut(a.columns, b.columns, 1, N, kGemmTileRows);
  for_blocks(product, cut, [&](const HalfProduct<H, Out>& block) { Part<H, Out>(block, cut).run(); });
}

#define WEFT_HALF_GEMM(H, Out) \
  template void half_gemm<H, Out>(Matrix<const H>, Matrix<const H>, Matrix<Out>, bool, const Out*);
WEFT_HALF_GEMM(BFloat16, BFloat16)
WEFT_HALF_GEMM(BFloat16, float)
WEFT_HALF_GEMM(Float16, Float16)
WEFT_HALF_GEMM(Float16, float)
#undef WEFT_HALF_GEMM

}  // namespace weft::kernels::cpu

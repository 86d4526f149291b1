// b is packed in panels of a few columns: for each register of elements along k, those of one column after the other. A
// few rows of a are multiplied by a panel at a time, with all their sums in registers. Where there are several panels,
// a group of rows stays in the L2 cache for all of them.
//
// Meanwhile the rows of a that are read next are prefetched, line by line in the order of memory: rows that are read
// side by side are short streams, which the hardware prefetcher follows too late.
#include "tensor/kernels/cpu/gemm/few_columns.h"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/gemm/fold_registers.h"
#include "tensor/kernels/cpu/gemm/put_part.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// By the columns of a panel less 1: the rows whose sums (two each for up to two columns) fit 32 (16) registers.
#if defined(__AVX512F__)
constexpr std::array<int, 8> kTileRows = {8, 6, 6, 6, 4, 4, 3, 3};
#else
constexpr std::array<int, 4> kTileRows = {4, 3, 4, 3};
#endif
constexpr int64_t kPanelColumns = static_cast<int64_t>(kTileRows.size());
/// A multiple of each: rows whose sums are collected before they are written.
constexpr int64_t kBlockRows = simd::kVectorBytes == 64 ? 24 : 12;

template <class T> struct DotTile {
  const T* a;
  int64_t stride;  // from row to row of a
  int64_t length;
  const Compute<T>* b;  // a panel
  const T* ahead;       // elements as many as the tile has, to be prefetched
  Compute<T>* sums;     // of row r and column j at j * kBlockRows + r
  bool adds;            // to `sums`
};

template <class T, int kRows, int kColumns> [[gnu::noinline]] void dot_tile(const DotTile<T>& t) {
  using C = Compute<T>;
  using Vector = simd::Vec<C>;
  constexpr int N = simd::kLanes<C>;
  constexpr int kSums = kRows * kColumns, kSets = kColumns <= 2 ? 2 : 1;  // two: dot_block()'s order
  constexpr int kLine = 64 / static_cast<int>(sizeof(T)), kLines = (kRows * N + kLine - 1) / kLine;
  Vector sums[kSets][kSums] = {};
  const T *a = t.a, *ahead = t.ahead;
  const C* b = t.b;
  const int64_t stride = t.stride;
  const auto add = [&](Vector * sum, const auto& load) __attribute__((always_inline)) {
#pragma GCC unroll 4
    for (int i = 0; i < kLines; ++i) __builtin_prefetch(ahead + i * kLine, 0, 2);
    ahead += kRows * N;
    const auto row = [&](int r) __attribute__((always_inline)) { return simd::in_register(load(a + r * stride)); };
    const auto column = [&](int j) __attribute__((always_inline)) {
      return simd::in_register(simd::load<C>(b + j * N));
    };
    // The fewer of both are kept for the others, which come one by one.
    Vector kept[std::min(kRows, kColumns)];
    if constexpr (kRows < kColumns) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) kept[r] = row(r);
#pragma GCC unroll 8
      for (int j = 0; j < kColumns; ++j) {
        const Vector right = column(j);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) sum[j * kRows + r] += kept[r] * right;
      }
    } else {
#pragma GCC unroll 8
      for (int j = 0; j < kColumns; ++j) kept[j] = column(j);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Vector left = row(r);
#pragma GCC unroll 8
        for (int j = 0; j < kColumns; ++j) sum[j * kRows + r] += left * kept[j];
      }
    }
    a += N, b += kColumns * N;
  };
  const auto whole = [](const T* p) __attribute__((always_inline)) { return simd::load<C>(p); };
  int64_t k = t.length;
  for (; k >= kSets * N; k -= kSets * N) {
#pragma GCC unroll 2
    for (int s = 0; s < kSets; ++s) add(sums[s], whole);
  }
  for (; k > 0; k -= N) {
    // Or g++, where it takes contracted operations for slow, would contract only some of these sums, and not the same
    // ones in a tile of one row: a row's bits would depend on its tile, and so on the number of threads.
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) sums[0][i] = simd::in_register(sums[0][i]);
    add(
        sums[0], [count = static_cast<int>(std::min<int64_t>(k, N))](const T* p)
                     __attribute__((always_inline)) { return simd::load_part<C>(p, count); });
  }
  if constexpr (kSets == 2) {
#pragma GCC unroll 24
    for (int i = 0; i < kSums; ++i) sums[0][i] += sums[1][i];
  }
  fold_registers<C, kSums>(sums[0]);
  C lanes[(kSums + N - 1) / N * N];
#pragma GCC unroll 4
  for (int i = 0; i * N < kSums; ++i) simd::store<C>(lanes + i * N, sums[0][i]);
#pragma GCC unroll 8
  for (int j = 0; j < kColumns; ++j)
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      C& sum = t.sums[j * kBlockRows + r];
      sum = t.adds ? sum + lanes[j * kRows + r] : lanes[j * kRows + r];
    }
}

template <class T> struct Tiles {
  void (*some)(const DotTile<T>&);
  void (*one)(const DotTile<T>&);
  int rows;  // of `some`
};

/// The tiles of a panel of so many columns.
template <class T> Tiles<T> tiles_of(int64_t columns) {
  constexpr auto table = []<int... I>(std::integer_sequence<int, I...>) {
    return std::array<Tiles<T>, sizeof...(I)>{
        Tiles<T>{dot_tile<T, kTileRows[I], I + 1>, dot_tile<T, 1, I + 1>, kTileRows[I]}...};
  }
  (std::make_integer_sequence<int, static_cast<int>(kTileRows.size())>{});
  return table[static_cast<size_t>(columns - 1)];
}

/// b in panels of about the same width.
template <class T> class Panels {
  using C = Compute<T>;
  static constexpr int N = simd::kLanes<C>;

 public:
  explicit Panels(const Matrix<const T>& b)
      : columns_(b.columns),
        depth_(ceil_div(b.rows, N) * N),
        count_(ceil_div(b.columns, kPanelColumns)),
        values_(checked_multiply(depth_, columns_)) {
    for (int64_t p = 0; p < count_; ++p)
      for (int64_t j = first(p), width = first(p + 1) - j, i = 0; i < width; ++i) {
        C* to = values_.data() + j * depth_ + i * N;
        const T* from = &b.at(0, j + i);
        for (int64_t k = 0; k < b.rows; k += N, to += width * N)
          simd::store<C>(to, simd::load_part<C>(from + k, static_cast<int>(std::min<int64_t>(N, b.rows - k))));
      }
  }
  int64_t columns() const { return columns_; }
  int64_t count() const { return count_; }
  int64_t first(int64_t p) const { return columns_ * p / count_; }
  const C* at(int64_t p) const { return values_.data() + first(p) * depth_; }

 private:
  int64_t columns_, depth_, count_;
  Scratch<C> values_;
};

/// Elements of a row that a tile sums at once: 24 KB of a panel of many columns, so that it stays in the L1 cache. (A
/// panel that comes from the L2 cache takes as many of the buffers for misses as what is prefetched: half of the rate.)
/// By the columns of all panels: each column is summed in the same order.
template <class T> int64_t pass_depth(int64_t columns, int64_t all) {
  constexpr int64_t N = simd::kLanes<Compute<T>>, kMost = 24576 / (8 * static_cast<int64_t>(sizeof(Compute<T>)));
  if (columns <= 4) return all;
  return ceil_div(ceil_div(all, ceil_div(all, kMost)), N) * N;
}

/// Rows [begin, end) of c = a b (+ c) for a panel. Rows are prefetched up to `last`.
template <class T, class Out>
void panel_product(const Matrix<const T>& a, const Panels<T>& b, int64_t panel, const Matrix<Out>& c, bool accumulate,
                   int64_t begin, int64_t end, int64_t last) {
  using C = Compute<T>;
  const int64_t j = b.first(panel), columns = b.first(panel + 1) - j;
  const int64_t depth = pass_depth<T>(b.columns(), a.columns);
  const Tiles<T> tiles = tiles_of<T>(columns);
  C sums[kPanelColumns * kBlockRows];
  for (int64_t i = begin; i < end; i += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, end - i);
    const bool prefetches = panel == 0 && a.row_stride == a.columns && i + 2 * kBlockRows <= last;
    const T* ahead = prefetches ? &a.at(i + kBlockRows, 0) : nullptr;
    for (int64_t k = 0; k < a.columns; k += depth) {
      const int64_t length = std::min(depth, a.columns - k);
      const auto tile = [&](auto function, int64_t r, int64_t count) {
        const T* const from = &a.at(i + r, k);
        function(
            {from, a.row_stride, length, b.at(panel) + k * columns, ahead == nullptr ? from : ahead, sums + r, k > 0});
        if (ahead != nullptr) ahead += count * length;
      };
      int64_t r = 0;
      for (; r + tiles.rows <= rows; r += tiles.rows) tile(tiles.some, r, tiles.rows);
      for (; r < rows; ++r) tile(tiles.one, r, 1);
    }
    put_rows(sums, kBlockRows, c.block(i, j, rows, columns).transposed(), accumulate);
  }
}

}  // namespace

// Measured on Zen 4 with AVX-512 and limited to AVX2, with weights of 1,000 elements to 39 million and 1 to 32 columns.
// Where the weight is in a cache, other products are as fast: those of f32 with three columns (AVX-512), with short
// sums, and beyond 24 columns; those of bf16 where an instruction multiplies twice as many; and those of f64 with more
// than six columns.
template <class T> bool prefers_few_columns(int64_t rows, int64_t terms, int64_t columns) {
  constexpr bool kWide = simd::kVectorBytes == 64;
  const double size = static_cast<double>(rows) * static_cast<double>(terms);
  if (terms <= 2 * simd::kLanes<Compute<T>>) return false;  // short_dots
  if (!kWide && columns == 5) return false;                 // panels of 2 and 3 columns sum in two orders
  if (columns == 1) return size * sizeof(T) > 1 << 24;
  if (columns == 2) return terms >= 96 && size >= 1 << 14;
  if constexpr (std::is_same_v<T, double>) {
    return columns <= (kWide ? 6 : 3);
  } else if constexpr (std::is_same_v<T, float>) {
    if (columns < (kWide ? 4 : 3) || (terms < 256 && (terms < 96 || rows > 32))) return false;
    return columns <= (size > 1 << 16 ? 24 : 20);
  } else {
    if (std::is_same_v<T, BFloat16> && onednn::has_fast_bf16())
      return terms >= 256 && columns <= (size > 1 << 23 ? 8 : size > 1 << 19 ? 4 : 3);
    return columns <= (terms >= 256 ? 24 : terms >= 64 ? 8 : 0);
  }
}
template bool prefers_few_columns<float>(int64_t, int64_t, int64_t);
template bool prefers_few_columns<double>(int64_t, int64_t, int64_t);
template bool prefers_few_columns<BFloat16>(int64_t, int64_t, int64_t);
template bool prefers_few_columns<Float16>(int64_t, int64_t, int64_t);

template <class T, class Out>
void few_columns_product(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<Out>& c, bool accumulate) {
  constexpr int64_t kGroupElements = 1 << 14, kGrain = 1 << 19;  // multiplications
  const Panels<T> panels(b);
  const int64_t group = panels.count() == 1
                            ? a.rows
                            : ceil_div(std::max<int64_t>(1, kGroupElements / a.columns), kBlockRows) * kBlockRows;
  parallel_for(a.rows, ceil_div(kGrain, a.columns * b.columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += group)
      for (int64_t p = 0; p < panels.count(); ++p)
        panel_product<T, Out>(a, panels, p, c, accumulate, i, std::min(i + group, end), end);
  });
}

#define WEFT_FEW_COLUMNS(T, Out) \
  template void few_columns_product(const Matrix<const T>&, const Matrix<const T>&, const Matrix<Out>&, bool);
WEFT_FEW_COLUMNS(float, float)
WEFT_FEW_COLUMNS(double, double)
WEFT_FEW_COLUMNS(BFloat16, BFloat16)
WEFT_FEW_COLUMNS(BFloat16, float)
WEFT_FEW_COLUMNS(Float16, Float16)
WEFT_FEW_COLUMNS(Float16, float)
#undef WEFT_FEW_COLUMNS

}  // namespace weft::kernels::cpu

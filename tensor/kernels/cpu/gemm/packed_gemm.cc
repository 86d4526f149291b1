// How a product is cut. k is cut into passes, the columns of b into groups that stay in the L2 cache; a group is
// packed into panels as wide as a tile, each read from front to back. Strips of a's rows are then multiplied by the
// panels, tile by tile (gemm_tile.h): where c is wide, a strip by all panels, so that c is written along its rows;
// where c is narrow, a panel by all strips.
//
// Where b is the transposed one and larger than a, the product is computed as (b^T a^T)^T: then a is what is packed,
// and c's tiles are transposed on their way to memory.
//
// Threads take disjoint blocks of c and pack what they need themselves. A sum runs over k in one order, cut into passes
// by the sizes of the whole product: its bits do not depend on the thread count.
//
// Known limit: with many threads and few rows, each packs the same part of a or b again.
#include "tensor/kernels/cpu/gemm/packed_gemm.h"

#include <numeric>

#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/transpose.h"
#include "tensor/kernels/cpu/gemm/gemm_tile.h"
#include "tensor/kernels/cpu/gemm/panel_packing.h"
#include "tensor/kernels/cpu/gemm/product_parts.h"

namespace weft::kernels::cpu {
namespace {

/// Elements of b that stay in the L2 cache, and how many products of k a pass takes at least and at most: every
/// pass but the first reads c again.
constexpr int64_t kGroupElements = 1 << 17, kLeastDepth = 512, kMostDepth = 1024;
/// b is read in place, not packed, if it fits the L1 cache or c has at most so many rows.
constexpr int64_t kUnpackedBytes = 24576, kUnpackedRows = 12;
/// A transposed a is read in place, not packed, unless its columns are spread over more bytes.
constexpr int64_t kSpreadBytes = 1 << 17;
/// Elements of a that are kept packed for all groups of b's columns; more are packed again for each.
constexpr int64_t kKeptElements = 1 << 18;
/// Columns of c up to which its tiles are taken panel by panel.
constexpr int64_t kNarrow = 512;

template <class T> struct Product {
  Matrix<const T> a, b;
  Matrix<T> c;  // column stride 1, or row stride 1 where `transposed`
  bool accumulate;
  const T* bias;  // one per column, or one per row where `transposed`
  bool transposed;

  Product block(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return {a.block(i, 0, rows, a.columns),
            b.block(0, j, b.rows, columns),
            c.block(i, j, rows, columns),
            accumulate,
            bias == nullptr ? nullptr : bias + (transposed ? i : j),
            transposed};
  }
};

/// How a product is cut: by the sizes of all of it.
template <class T> struct Cut {
  static constexpr int64_t N = simd::kLanes<T>;
  int64_t depth;    // of a pass, a multiple of N
  int64_t panel;    // columns, a multiple of N
  int64_t group;    // columns, a multiple of `panel`
  int64_t rows;     // of a tile
  bool unpacked_b;  // but for a last register that is not full

  explicit Cut(const Product<T>& p) {
    const int64_t k = p.a.columns, columns = p.b.columns;
    const int64_t most = std::clamp(kGroupElements / columns, kLeastDepth, kMostDepth);
    depth = ceil_div(ceil_div(k, ceil_div(k, most)), N) * N;
    const int64_t vectors = ceil_div(columns, N);
    const int64_t width = ceil_div(vectors, ceil_div(vectors, kGemmTileVectors));
    panel = width * N;
    group = std::max<int64_t>(1, kGroupElements / (depth * panel)) * panel;
    rows = kGemmTileRows[static_cast<size_t>(width - 1)];
    unpacked_b = p.b.column_stride == 1 &&
                 (p.a.rows <= kUnpackedRows ||
                  p.b.row_stride * std::min(depth, k) * static_cast<int64_t>(sizeof(T)) <= kUnpackedBytes);
  }
};

/// `rows` (at most N) rows of c, a transposed one, from a buffer whose rows are `width` apart; + c or + bias.
template <class T>
void store_transposed(const T* from, int64_t width, const Matrix<T>& c, bool accumulate, const T* bias) {
  constexpr int N = simd::kLanes<T>;
  const auto rows = static_cast<int>(c.rows);
  const simd::Vec<T, N> add = bias != nullptr ? simd::load_part<T, N>(bias, rows) : simd::Vec<T, N>{};
  for (int64_t j = 0; j < c.columns; j += N) {
    simd::Vec<T, N> block[N];
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) block[i] = simd::load<T, N>(from + i * width + j);
    simd::transpose<T>(block);
    T* out = c.data + j * c.column_stride;
    const int64_t count = std::min<int64_t>(N, c.columns - j);
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i, out += c.column_stride) {
      if (i >= count) break;
      block[i] += accumulate ? simd::load_part<T, N>(out, rows) : add;
      simd::store_part<T, N>(out, block[i], rows);
    }
  }
}

/// One thread's part of a product.
template <class T> class Part {
  static constexpr int N = simd::kLanes<T>;

 public:
  Part(const Product<T>& product, const Cut<T>& cut)
      : p_(product),
        cut_(cut),
        strips_(ceil_div(product.a.rows, unit()), strip_rows() / unit()),
        packed_b_(std::min(cut.depth, product.a.columns) *
                  (cut.unpacked_b ? cut.panel : std::min(cut.group, ceil_div(product.b.columns, N) * N))),
        keeps_a_(product.b.columns > cut.group && strips_.count * packed_strip() <= kKeptElements),
        packed_a_(packs_a() ? (keeps_a_ ? strips_.count : std::min(kBatch, strips_.count)) * packed_strip() : 0) {}

  void run() {
    for (int64_t k = 0; k < p_.a.columns; k += cut_.depth)
      for (int64_t j = 0; j < p_.b.columns; j += cut_.group) {
        pass_ = {k, std::min(cut_.depth, p_.a.columns - k), j, std::min(cut_.group, p_.b.columns - j),
                 p_.accumulate || k > 0};
        pack_group();
        for (int64_t s = 0; s < strips_.count; s += kBatch) {
          const int64_t end = std::min(s + kBatch, strips_.count);
          if (packs_a() && (j == 0 || !keeps_a_)) pack_strips(s, end);
          if (p_.transposed)
            for (int64_t i = s; i < end; ++i) transposed_strip(s, i);
          else
            plain_strips(s, end);
        }
      }
  }

 private:
  /// Strips that are packed together, so that whole cache lines are used.
  static constexpr int64_t kBatch = 16;
  /// Panels of rows of b that are packed together, likewise.
  static constexpr int64_t kPanelsAtOnce =
      std::max<int64_t>(1, 256 / (kGemmTileVectors * N * static_cast<int64_t>(sizeof(T))));
  /// Rows of a are packed in pieces of so many elements: half a register of 512 bits for 6 to 8 floats.
  static constexpr int64_t kPiece = N < 8 ? N : 8;

  struct Pass {
    int64_t k, depth, j, columns;
    bool accumulate;
  };
  struct Rows {  // of a, in this pass
    const T* data;
    int64_t row, step;
    const T* next = nullptr;  // the next strip's rows, if they are contiguous along k
  };

  /// Columns [0, direct) of the group are read where they lie.
  int64_t direct() const { return cut_.unpacked_b ? pass_.columns / N * N : 0; }
  bool in_place(int64_t j, int64_t columns) const { return j + columns <= direct(); }
  static int64_t width_of(int64_t columns) { return ceil_div(columns, N) * N; }
  T* packed(int64_t j) const { return packed_b_.data() + (cut_.unpacked_b ? 0 : j * pass_.depth); }

  void pack_group() {
    int64_t j = direct() / cut_.panel * cut_.panel;
    if (kPanelsAtOnce > 1 && p_.b.column_stride == 1 && cut_.panel == kGemmTileVectors * N)
      for (; j + kPanelsAtOnce * cut_.panel <= pass_.columns; j += kPanelsAtOnce * cut_.panel)
        pack_row_panels<T, T>(p_.b.block(pass_.k, pass_.j + j, pass_.depth, kPanelsAtOnce * cut_.panel), packed(j),
                              cut_.panel, kPanelsAtOnce);
    for (; j < pass_.columns; j += cut_.panel) {
      const int64_t columns = std::min(cut_.panel, pass_.columns - j);
      if (in_place(j, columns)) continue;
      const Matrix<const T> from = p_.b.block(pass_.k, pass_.j + j, pass_.depth, columns);
      pack_panel<T, T>(from, packed(j), width_of(columns));
    }
  }

  /// a is packed if its row stride is 1 and its columns are spread over much memory: a strip uses only a part of each
  /// cache line there. (Not of columns that are adjacent cache lines, or share them.)
  bool packs_a() const {
    const int64_t column_bytes = p_.a.column_stride * static_cast<int64_t>(sizeof(T));
    return p_.a.row_stride == 1 && column_bytes > 64 && column_bytes * p_.a.columns > kSpreadBytes;
  }
  /// The strips [begin, end), each with its rows interleaved; all of them at once, as they share cache lines.
  void pack_strips(int64_t begin, int64_t end) {
    const int64_t step = packed_step(), next = packed_strip();
    const Strips strips = strips_;  // no part of what is written
    const int64_t unit = this->unit(), all = p_.a.rows;
    const auto first_row = [=](int64_t s) { return std::min(all, strips.first(s) * unit); };
    int64_t whole = begin;
    for (int64_t s = begin; s < end; ++s)
      if (first_row(s) + step <= all) whole = s + 1;
    const int64_t first = first_row(begin), last = first_row(end);
    const T* in = p_.a.data + pass_.k * p_.a.column_stride;
    for (int64_t k = 0; k < pass_.depth; ++k, in += p_.a.column_stride) {
      T* to = packed_a_.data() + (keeps_a_ ? begin * next : 0) + k * step;
      const T* ahead = in + kPrefetchRows * p_.a.column_stride;
      for (int64_t i = first; i < last; i += 64 / static_cast<int64_t>(sizeof(T))) __builtin_prefetch(ahead + i);
      for (int64_t s = begin; s < whole; ++s, to += next) {  // reads rows of the next strip too
        const T* rows = in + first_row(s);
        for (int64_t r = 0; r < step; r += kPiece) simd::store<T, kPiece>(to + r, simd::load<T, kPiece>(rows + r));
      }
      for (int64_t s = whole; s < end; ++s, to += next) {
        const T* from = in + first_row(s);
        for (int64_t r = 0, rows = first_row(s + 1) - first_row(s); r < rows; r += kPiece)
          simd::store<T, kPiece>(to + r,
                                 simd::load_part<T, kPiece>(from + r, static_cast<int>(std::min(kPiece, rows - r))));
      }
    }
  }
  /// From one packed strip to the next: an odd number of cache lines, so that strips do not compete for the
  /// same cache sets.
  int64_t packed_strip() const { return cut_.depth * packed_step() + 64 / static_cast<int64_t>(sizeof(T)); }
  int64_t packed_step() const { return ceil_div(strip_rows(), kPiece) * kPiece; }
  int64_t strip_rows() const { return p_.transposed ? tall_strip(cut_.rows) : cut_.rows; }
  /// Rows of a strip of c, a transposed one: whole registers are stored, and tiles are as high as they may be, unless
  /// the buffer would take much of the L1 cache.
  static constexpr int64_t tall_strip(int64_t tile_rows) {
    const int64_t rows = std::lcm(int64_t{N}, tile_rows);
    return rows <= 24 ? rows : N;
  }
  static constexpr int64_t kTallest = std::max<int64_t>(24, N);
  /// Strips begin at multiples of so many rows.
  int64_t unit() const { return p_.transposed ? N : 1; }
  int64_t first_row(int64_t s) const { return std::min(p_.a.rows, strips_.first(s) * unit()); }
  int64_t rows_of(int64_t s) const { return first_row(s + 1) - first_row(s); }

  Rows rows_of_a(int64_t batch, int64_t s) const {
    if (packs_a()) return {packed_a_.data() + (keeps_a_ ? s : s - batch) * packed_strip(), 1, packed_step()};
    const T* data = p_.a.data + first_row(s) * p_.a.row_stride + pass_.k * p_.a.column_stride;
    const bool along_k = p_.a.column_stride == 1;
    return {data, p_.a.row_stride, p_.a.column_stride, along_k ? data + rows_of(s) * p_.a.row_stride : nullptr};
  }

  /// The tile of `rows` rows and the columns [j, j + columns) of the group. The first of a strip prefetches
  /// the next strip's rows: they are far apart, and too short for the hardware prefetcher to follow.
  void tile(const Rows& a, int64_t rows, int64_t j, int64_t columns, T* c, int64_t c_row, int last, const T* add,
            int64_t add_row) {
    const bool here = in_place(j, columns);
    const T* b = here ? p_.b.data + pass_.k * p_.b.row_stride + pass_.j + j : packed(j);
    const int64_t b_step = here ? p_.b.row_stride : width_of(columns);
    gemm_tile_function<T>(rows, ceil_div(columns, N))(
        {pass_.depth, a.data, a.row, a.step, b, b_step, c, c_row, last, add, add_row, j == 0 ? a.next : nullptr});
  }

  /// Panel by panel where c is narrow, as a panel takes more of the cache than a strip; else along c's rows, which
  /// the hardware prefetcher follows.
  void plain_strips(int64_t batch, int64_t end) {
    if (p_.b.columns <= kNarrow) {
      for (int64_t j = 0; j < pass_.columns; j += cut_.panel)
        for (int64_t s = batch; s < end; ++s) plain_tile(batch, s, j);
    } else {
      for (int64_t s = batch; s < end; ++s)
        for (int64_t j = 0; j < pass_.columns; j += cut_.panel) plain_tile(batch, s, j);
    }
  }
  void plain_tile(int64_t batch, int64_t s, int64_t j) {
    const int64_t first = first_row(s), columns = std::min(cut_.panel, pass_.columns - j);
    T* c = p_.c.data + first * p_.c.row_stride + pass_.j + j;
    const T* bias = p_.bias == nullptr ? nullptr : p_.bias + pass_.j + j;
    tile(rows_of_a(batch, s), rows_of(s), j, columns, c, p_.c.row_stride, static_cast<int>((columns - 1) % N + 1),
         pass_.accumulate ? c : bias, pass_.accumulate ? p_.c.row_stride : 0);
  }

  /// Tiles go to a buffer, which is then stored transposed, N rows at a time.
  void transposed_strip(int64_t batch, int64_t s) {
    alignas(64) T buffer[kTallest * kGemmTileVectors * N];
    const int64_t first = first_row(s), rows = rows_of(s);
    const Rows a = rows_of_a(batch, s);
    const int64_t tiles = ceil_div(rows, cut_.rows);
    for (int64_t j = 0; j < pass_.columns; j += cut_.panel) {
      const int64_t columns = std::min(cut_.panel, pass_.columns - j);
      for (int64_t i = 0; i < tiles; ++i) {
        const int64_t begin = rows * i / tiles, end = rows * (i + 1) / tiles;
        const int64_t skipped = begin * a.row;
        tile({a.data + skipped, a.row, a.step, a.next == nullptr ? nullptr : a.next + skipped}, end - begin, j, columns,
             buffer + begin * cut_.panel, cut_.panel, N, nullptr, 0);
      }
      for (int64_t i = 0; i < rows; i += N)
        store_transposed<T>(buffer + i * cut_.panel, cut_.panel,
                            p_.c.block(first + i, pass_.j + j, std::min<int64_t>(N, rows - i), columns),
                            pass_.accumulate, p_.bias == nullptr ? nullptr : p_.bias + first + i);
    }
  }

  const Product<T>& p_;
  const Cut<T>& cut_;
  const Strips strips_;
  Scratch<T> packed_b_;
  bool keeps_a_;  // packed strips are kept for all groups of b's columns
  Scratch<T> packed_a_;
  Pass pass_{};
};

template <class T> void run(const Product<T>& p) {
  const Cut<T> cut(p);
  for_product_parts(p.a.rows, p.b.columns, cut.rows, cut.panel, product_threads(p.a, p.b),
                    [&](int64_t i, int64_t j, int64_t rows, int64_t columns) {
                      const Product<T> part = p.block(i, j, rows, columns);
                      Part<T>(part, cut).run();
                    });
}

/// Per element, transposing c costs as much as packing what is transposed: b, or a instead where its column
/// stride is 1.
template <class T>
Product<T> product_of(const Matrix<const T>& a, const Matrix<const T>& b, const Matrix<T>& c, bool accumulate,
                      const T* bias) {
  const auto m = static_cast<double>(a.rows), n = static_cast<double>(b.columns), k = static_cast<double>(b.rows);
  const bool transposed = b.column_stride != 1 && m * n + (a.column_stride == 1 ? m * k : 0.0) < n * k;
  if (transposed) return {b.transposed(), a.transposed(), c.transposed(), accumulate, bias, true};
  return {a, b, c, accumulate, bias, false};
}

}  // namespace

template <class T> void packed_gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool accumulate, const T* bias) {
  run(product_of(a, b, c, accumulate, bias));
}

template <class T> void packed_gemm_block(Matrix<const T> a, Matrix<const T> b, int64_t i, int64_t j, Matrix<T> out) {
  Product<T> part = product_of<T>(a, b, out, false, nullptr);
  const Cut<T> cut(part);  // by the sizes of the whole
  const Matrix<const T> left = a.block(i, 0, out.rows, a.columns), right = b.block(0, j, b.rows, out.columns);
  part.a = part.transposed ? right.transposed() : left;
  part.b = part.transposed ? left.transposed() : right;
  Part<T>(part, cut).run();
}

bool prefers_packed(const Matrix<const float>& a, const Matrix<const float>& b) {
#if defined(__AVX512F__)
  const bool a_columns = a.column_stride != 1, b_columns = b.column_stride != 1;
  const double work = multiplications(a, b);
  if (b.columns == 1) return false;
  if (a.rows < 24) return !b_columns && work <= 1 << 18;
  if (b.columns < 24) return work <= 1 << 18;
  if (work <= 1 << 22) return true;
  if (b_columns) return a.rows >= 256 || b.columns <= 256;
  if (work <= 1 << 24 && a.columns <= 128) return true;
  if (!a_columns) return a.rows >= 64 && (b.columns > 64 || a.rows >= 1024);
  return work <= 1 << 28 && b.columns >= 100 && a.rows >= (a.column_stride % 64 == 0 ? 256 : 100);
#else
  const bool a_columns = a.column_stride != 1, b_columns = b.column_stride != 1;
  constexpr int64_t kAliased = 2048 / sizeof(float), kLeast = 32;
  if (a.rows < kLeast || b.columns < kLeast) return false;
  // sgemm reads operands in place. Elements a multiple of 2 KB apart map to few sets of the L1 cache: those of a's
  // columns, unless c is wide, and those of b's rows where a has few rows.
  if (a_columns && a.column_stride % kAliased == 0 && b.columns <= 512) return true;
  if (!b_columns && b.row_stride % kAliased == 0 && a.rows >= 96 && a.rows <= 320) return true;
  if (a.columns < 200 || b.columns < 200) return false;
  if (a_columns) return !b_columns && b.columns <= 512 && a.rows >= 256 && a.rows < 1000;
  // The transposed weight of a linear layer, whose bias the tile adds.
  return b_columns && a.rows >= 1024;
#endif
}

template void packed_gemm_block<float>(Matrix<const float>, Matrix<const float>, int64_t, int64_t, Matrix<float>);
template void packed_gemm<float>(Matrix<const float>, Matrix<const float>, Matrix<float>, bool, const float*);
template void packed_gemm<double>(Matrix<const double>, Matrix<const double>, Matrix<double>, bool, const double*);

}  // namespace weft::kernels::cpu

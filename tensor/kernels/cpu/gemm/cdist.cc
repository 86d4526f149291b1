// Distances of rows, by tiles of a few rows of a and one or two registers of rows of b: three operations for each
// difference, as many as a product has and half again.
#include <cmath>

#include "tensor/kernels/cpu/base/arithmetic.h"
#include "tensor/kernels/cpu/base/batch.h"
#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/scratch.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/ops/matmul.h"
#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

constexpr int64_t kChunk = 128;  // rows of a that share a panel
constexpr int kTile = 8, kSmallTile = 4;

constexpr int64_t kPart = 1024;  // values of a row that are taken together: a longer sum would lose its last bits

/// What becomes of the differences d of two rows: `add` takes one more to what came of those before it, `join` what
/// came of two parts of the rows.
struct Sum {
  template <class V> static V join(V a, V b) { return a + b; }
};
struct Euclidean : Sum {
  template <class V> static V add(V sum, V d) { return sum + d * d; }
};
struct Manhattan : Sum {
  template <class V> static V add(V sum, V d) { return sum + simd::larger(d, V(-d)); }
};
struct Hamming : Sum {
  template <class V> static V add(V sum, V d) {
    return sum + (((d < 0) | (d > 0)) ? V{} + 1 : d);  // a NaN is added itself
  }
};
struct Chebyshev {
  template <class V> static V add(V most, V d) {
    const V size = simd::larger(d, V(-d));
    return ((size > most) | (d != d)) ? size : most;  // a NaN stays
  }
  template <class V> static V join(V a, V b) { return add(a, b); }
};

/// kRows rows (`length` values each, `step` apart) against a panel (length x kVectors registers).
template <class Metric, class C, int kVectors, int kRows>
void tile(const C* rows, int64_t step, const C* panel, int64_t length, C* out) {
  using V = simd::Vec<C>;
  constexpr int64_t N = simd::kLanes<C>;
  int64_t k = 0;
  do {
    V sums[kRows][kVectors] = {};
    const bool first = k == 0;
    for (const int64_t end = std::min(k + kPart, length); k < end; ++k, panel += kVectors * N) {
      V values[kVectors];
      for (int v = 0; v < kVectors; ++v) values[v] = simd::load<C>(panel + v * N);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const V x = simd::splat<C>(rows[i * step + k]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[i][v] = Metric::add(sums[i][v], V(values[v] - x));
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
      for (int v = 0; v < kVectors; ++v) {
        C* to = out + (i * kVectors + v) * N;
        simd::store<C>(to, first ? sums[i][v] : Metric::join(simd::load<C>(to), sums[i][v]));
      }
  } while (k < length);
}

/// Rows [first, first + count) of x, row by row.
template <class T> void take_rows(const Matrix<const T>& x, int64_t first, int64_t count, Compute<T>* to) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < x.columns; ++k) to[i * x.columns + k] = static_cast<Compute<T>>(x.at(first + i, k));
}

/// Rows [first, first + count) of x as columns: element (first + j, k) at to[k * kWidth + j].
template <int64_t kWidth, class T>
void take_panel(const Matrix<const T>& x, int64_t first, int64_t count, Compute<T>* to) {
  for (int64_t j = 0; j < count; ++j)
    for (int64_t k = 0; k < x.columns; ++k) to[k * kWidth + j] = static_cast<Compute<T>>(x.at(first + j, k));
}

/// The roots of sums of squares in place, `width` for each of `height` rows that are `step` apart; sums of floats that
/// left their range are taken again, in double.
void take_roots(double* sums, const double*, int64_t, int64_t height, const double*, int64_t, int64_t width) {
  for (int64_t j = 0; j < height * width; ++j) sums[j] = std::sqrt(sums[j]);
}
void take_roots(float* sums, const float* rows, int64_t step, int64_t height, const float* panel, int64_t length,
                int64_t width) {
  constexpr float kSmallest = 1e-15f, kLargest = 1e19f;  // the squares of values in between are in range
  int inside = 1;
#pragma omp simd reduction(& : inside)
  for (int64_t j = 0; j < height * width; ++j) {
    sums[j] = std::sqrt(sums[j]);
    inside &= static_cast<int>(sums[j] >= kSmallest) & static_cast<int>(sums[j] <= kLargest);  // no branches
  }
  if (inside != 0) return;
  for (int64_t j = 0; j < height * width; ++j) {
    if (sums[j] >= kSmallest && sums[j] <= kLargest) continue;
    const float *row = rows + j / width * step, *column = panel + j % width;
    double sum = 0;
    for (int64_t k = 0; k < length; ++k) {
      const double d = static_cast<double>(row[k]) - static_cast<double>(column[k * width]);
      sum += d * d;
    }
    sums[j] = static_cast<float>(std::sqrt(sum));
  }
}

/// The tiles of a metric, by their height, against panels of `width` columns. What calls them is compiled once for all
/// metrics.
template <class C> struct Tiles {
  using Tile = void (*)(const C* rows, int64_t step, const C* panel, int64_t length, C* out);
  Tile of_many, of_few, of_one;  // kTile rows, kSmallTile rows, one row
  int64_t width;
};
constexpr int64_t kMostVectors = 2;

template <class Metric, class C, int kVectors> Tiles<C> tiles() {
  return {tile<Metric, C, kVectors, kTile>, tile<Metric, C, kVectors, kSmallTile>, tile<Metric, C, kVectors, 1>,
          kVectors * simd::kLanes<C>};
}

template <class C> Tiles<C> tiles_of(double p, int64_t columns) {
  const auto of = [columns]<class Metric>() {
    return columns <= simd::kLanes<C> ? tiles<Metric, C, 1>() : tiles<Metric, C, kMostVectors>();
  };
  if (p == 0) return of.template operator()<Hamming>();
  if (p == 1) return of.template operator()<Manhattan>();
  return p == 2 ? of.template operator()<Euclidean>() : of.template operator()<Chebyshev>();
}

/// Rows [first, end) of a against the panel of b's rows [column, column + count).
template <class T, class C = Compute<T>>
void distances(const Tiles<C>& tiles, bool roots, const Matrix<const T>& a, int64_t first, int64_t end, const C* panel,
               int64_t column, int64_t count, C* rows, const Matrix<T>& out) {
  alignas(64) C found[kTile * kMostVectors * simd::kLanes<C>];
  for (int64_t i = first; i < end;) {
    const int64_t left = end - i, height = left >= kTile ? kTile : left >= kSmallTile ? kSmallTile : 1;
    const C* values = rows;
    int64_t step = a.columns;
    if constexpr (std::is_same_v<T, C>)
      if (a.column_stride == 1) values = a.data + i * a.row_stride, step = a.row_stride;  // as they lie
    if (values == rows) take_rows(a, i, height, rows);
    const auto tile = height == kTile ? tiles.of_many : height == kSmallTile ? tiles.of_few : tiles.of_one;
    tile(values, step, panel, a.columns, found);
    if (roots) take_roots(found, values, step, height, panel, a.columns, tiles.width);
    for (int64_t r = 0; r < height; ++r, ++i) {
      const C* sums = found + r * tiles.width;
      if (out.column_stride == 1)
        copy_run(sums, &out.at(i, column), count);
      else
        for (int64_t j = 0; j < count; ++j) out.at(i, column + j) = static_cast<T>(sums[j]);
    }
  }
}

template <class T> void cdist(double metric, const Operand& x, const Operand& y, const Operand& out) {
  using C = Compute<T>;
  constexpr int64_t N = simd::kLanes<C>;
  const int64_t rank = x.rank(), p = x.size(rank - 2), r = y.size(rank - 2), length = x.size(rank - 1);
  const Tiles<C> tiles = tiles_of<C>(metric, r);
  const int64_t width = tiles.width, panels = ceil_div(r, width), chunks = ceil_div(p, kChunk);
  const int64_t work = std::min(p, kChunk) * width * std::max<int64_t>(1, length);
  parallel_for(batch_count(out) * panels * chunks, 1 + 200'000 / work, [&](int64_t begin, int64_t end) {
    const Scratch<C> panel(length * width), rows(length * kTile);
    std::fill_n(panel.data(), length * width, C{0});
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / (panels * chunks), column = i / chunks % panels * width, row = i % chunks * kChunk;
      const int64_t count = std::min(width, r - column);
      if (i == begin || i % chunks == 0)
        (width == N ? take_panel<N, T> : take_panel<kMostVectors * N, T>)(matrix_of<const T>(y, batch), column, count,
                                                                          panel.data());
      distances<T>(tiles, metric == 2, matrix_of<const T>(x, batch), row, std::min(p, row + kChunk), panel.data(),
                   column, count, rows.data(), matrix_of<T>(out, batch));
    }
  });
}

/// f(x), or f of a copy whose rows are contiguous: each of `panels` of the other operand reads all of them again.
template <class T, class F> void with_contiguous_rows(const Operand& x, int64_t panels, const F& f) {
  constexpr int64_t kFewPanels = 2;
  const int64_t rows = x.size(x.rank() - 2), length = x.size(x.rank() - 1);
  if (x.stride(x.rank() - 1) == 1 || panels <= kFewPanels || x.view->overlaps_itself()) return f(x);
  const Scratch<T> memory(x.numel());
  for_each_matrix(batch_count(x), static_cast<double>(rows * length), [&](int64_t i) {
    copy_matrix<T, T>(matrix_of<const T>(x, i), row_major(memory.data() + i * rows * length, rows, length));
  });
  const View view = View::contiguous(x.shape());
  f(Operand{memory.data(), &view, x.dtype});
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Cdist::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(out.dtype, [&]<class T>() {
    const int64_t panels = ceil_div(b.size(b.rank() - 2), kMostVectors * simd::kLanes<Compute<T>>);
    with_contiguous_rows<T>(a, panels, [&](const Operand& rows) { cdist<T>(p, rows, b, out); });
  });
}

}  // namespace weft

// Distances of rows, by tiles of a few rows of a and two registers of rows of b: three operations for each difference,
// as many as a product has and half again.
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

template <class C> inline constexpr int64_t kPanel = 2 * simd::kLanes<C>;  // rows of b side by side
constexpr int64_t kChunk = 128;                                            // rows of a that share a panel
constexpr int kTile = 8;

/// Squared distances of kRows rows (`length` values each, `step` apart) from those of a panel (length x kPanel).
template <class C, int kRows> void tile(const C* rows, int64_t step, const C* panel, int64_t length, C* out) {
  using V = simd::Vec<C>;
  V sums[kRows][2] = {};
  for (int64_t k = 0; k < length; ++k, panel += kPanel<C>) {
    const V first = simd::load<C>(panel), second = simd::load<C>(panel + simd::kLanes<C>);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V x = simd::splat<C>(rows[i * step + k]), d = first - x, e = second - x;
      sums[i][0] += d * d;
      sums[i][1] += e * e;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    simd::store<C>(out + i * kPanel<C>, sums[i][0]);
    simd::store<C>(out + i * kPanel<C> + simd::kLanes<C>, sums[i][1]);
  }
}

/// Rows [first, first + count) of x, row by row; rows that are not there are zero.
template <class T> void take_rows(const Matrix<const T>& x, int64_t first, int64_t count, Compute<T>* to) {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < x.columns; ++k) to[i * x.columns + k] = static_cast<Compute<T>>(x.at(first + i, k));
}

/// Rows [first, first + count) of x side by side.
template <class T> void take_panel(const Matrix<const T>& x, int64_t first, int64_t count, Compute<T>* to) {
  constexpr int64_t kWidth = kPanel<Compute<T>>;
  for (int64_t k = 0; k < x.columns; ++k)
    for (int64_t j = 0; j < kWidth; ++j)
      to[k * kWidth + j] = j < count ? static_cast<Compute<T>>(x.at(first + j, k)) : Compute<T>(0);
}

/// The roots of kPanel sums of squares in place; sums of floats that left their range are taken again, in double.
void take_roots(double* sums, const double*, const double*, int64_t) {
  for (int64_t j = 0; j < kPanel<double>; ++j) sums[j] = std::sqrt(sums[j]);
}
void take_roots(float* sums, const float* row, const float* panel, int64_t length) {
  constexpr float kSmallest = 1e-15f, kLargest = 1e19f;  // what lies between had squares in range
  int inside = 1;
#pragma omp simd reduction(& : inside)
  for (int64_t j = 0; j < kPanel<float>; ++j) {
    sums[j] = std::sqrt(sums[j]);
    inside &= static_cast<int>(sums[j] >= kSmallest) & static_cast<int>(sums[j] <= kLargest);  // no branches
  }
  if (inside != 0) return;
  for (int64_t j = 0; j < kPanel<float>; ++j) {
    if (sums[j] >= kSmallest && sums[j] <= kLargest) continue;
    double sum = 0;
    for (int64_t k = 0; k < length; ++k) {
      const double d = static_cast<double>(row[k]) - static_cast<double>(panel[k * kPanel<float> + j]);
      sum += d * d;
    }
    sums[j] = static_cast<float>(std::sqrt(sum));
  }
}

/// Rows [first, end) of a against the panel of b's rows [column, column + count).
template <class T>
void distances(const Matrix<const T>& a, int64_t first, int64_t end, const Compute<T>* panel, int64_t column,
               int64_t count, Compute<T>* rows, const Matrix<T>& out) {
  using C = Compute<T>;
  alignas(64) C squares[kTile * kPanel<C>];
  for (int64_t i = first; i < end;) {
    const int64_t height = end - i >= kTile ? kTile : 1;
    const C* values = rows;
    int64_t step = a.columns;
    if constexpr (std::is_same_v<T, C>)
      if (a.column_stride == 1) values = a.data + i * a.row_stride, step = a.row_stride;  // as they lie
    if (values == rows) take_rows(a, i, height, rows);
    if (height == kTile)
      tile<C, kTile>(values, step, panel, a.columns, squares);
    else
      tile<C, 1>(values, step, panel, a.columns, squares);
    for (int64_t r = 0; r < height; ++r, ++i) {
      C* sums = squares + r * kPanel<C>;
      take_roots(sums, values + r * step, panel, a.columns);
      if constexpr (std::is_same_v<T, C>)
        if (out.column_stride == 1) {
          std::copy_n(sums, count, &out.at(i, column));
          continue;
        }
      for (int64_t j = 0; j < count; ++j) out.at(i, column + j) = static_cast<T>(sums[j]);
    }
  }
}

template <class T> void cdist(const Operand& x, const Operand& y, const Operand& out) {
  using C = Compute<T>;
  const int64_t rank = x.rank(), p = x.size(rank - 2), r = y.size(rank - 2), length = x.size(rank - 1);
  const int64_t panels = ceil_div(r, kPanel<C>), chunks = ceil_div(p, kChunk);
  const int64_t work = std::min(p, kChunk) * kPanel<C> * std::max<int64_t>(1, length);
  parallel_for(batch_count(out) * panels * chunks, 1 + 200'000 / work, [&](int64_t begin, int64_t end) {
    const Scratch<C> panel(length * kPanel<C>), rows(length * kTile);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t batch = i / (panels * chunks), column = i / chunks % panels * kPanel<C>, row = i % chunks * kChunk;
      const int64_t count = std::min(kPanel<C>, r - column);
      if (i == begin || i % chunks == 0) take_panel(matrix_of<const T>(y, batch), column, count, panel.data());
      distances(matrix_of<const T>(x, batch), row, std::min(p, row + kChunk), panel.data(), column, count, rows.data(),
                matrix_of<T>(out, batch));
    }
  });
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

void op::Cdist::cpu(const Operand& a, const Operand& b, const Operand& out) const {
  if (out.numel() == 0) return;
  visit_floating(out.dtype, [&]<class T>() { cdist<T>(a, b, out); });
}

}  // namespace weft

// Sums of deviations and of their squares from a value near the mean, in one pass over a block: what the mean and the
// variance come from unless that value was too far off (moments.h).
#pragma once

#include <cmath>

#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {

/// What a pass about `shift` found in `count` values: the sums of x - shift and of (x - shift)^2.
struct ShiftedSums {
  double sum;
  double squares;

  double offset(double count) const { return sum / count; }  // of the mean from the shift
  /// The sum of squared deviations from the mean.
  double centered(double count) const { return squares - sum * offset(count); }
  /// Whether the shift is within two standard deviations of the mean: then at most two bits cancel. NaN and infinity
  /// are not.
  bool is_near(double count) const {
    const double rest = centered(count);
    return squares - rest <= 4 * rest && std::isfinite(squares);
  }
};

namespace detail {

/// A value near the mean of many, as a rule: the mean of four that lie apart.
template <class C, class At> C near_mean(int64_t count, const At& at) {
  return (at(0) + at(count / 4) + at(count / 2) + at(count - 1)) * C(0.25);
}

/// Adds the lanes of (x - shift) and their squares to `sum` and `squares`.
template <class V> WEFT_SIMD void add_deviation(V x, V shift, V& sum, V& squares) {
  const V d = x - shift;
  sum += d;
  squares += d * d;
}

/// All elements of a block of dense rows; the shift is put into `shift`.
template <class T> ShiftedSums shifted_rows(const Block<T>& block, Compute<T>& shift) {
  using C = Compute<T>;
  using V = simd::Vec<C>;
  using B = BlockTypes<DeviationOp<T>>;
  constexpr int N = B::kWidth;
  NestWalk walk(*block.nest, block.first);
  shift = near_mean<C>(block.length, [p = block.base + walk.in()](int64_t i) { return static_cast<C>(p[i]); });
  const V about = simd::splat<C>(shift);
  typename B::AccVec sums[B::kParts] = {}, squares[B::kParts] = {};
  for (int64_t row = 0; row < block.rows; ++row, walk.next()) {
    const T* p = block.base + walk.in();
    int64_t i = 0;
    for (; i + 8 * N <= block.length; i += 8 * N) {
      V sum[2] = {}, square[2] = {};  // two chains each, of four
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) simd::prefetch(p + i + k * N);
#pragma GCC unroll 8
      for (int k = 0; k < 8; ++k) add_deviation(simd::load<C>(p + i + k * N), about, sum[k % 2], square[k % 2]);
      accumulate<DeviationOp<T>>(sums, sum[0] + sum[1]);
      accumulate<DeviationOp<T>>(squares, square[0] + square[1]);
    }
    if (i == block.length) continue;
    V sum{}, square{};
    for (; i + N <= block.length; i += N) add_deviation(simd::load<C>(p + i), about, sum, square);
    if (i < block.length) {
      const int count = static_cast<int>(block.length - i);
      add_deviation(simd::first_lanes<C>(simd::load_part<C>(p + i, count), about, count), about, sum, square);
    }
    accumulate<DeviationOp<T>>(sums, sum);
    accumulate<DeviationOp<T>>(squares, square);
  }
  for (int k = 1; k < B::kParts; ++k) sums[0] += sums[k], squares[0] += squares[k];
  return {simd::fold_lanes<Add, double, B::kAccWidth>(sums[0]),
          simd::fold_lanes<Add, double, B::kAccWidth>(squares[0])};
}

/// kRows dense rows about shifts[j], added to sums[j] and squares[j], which have room for whole registers.
template <int kRows, class T>
void add_row_group(const T* const* rows, int64_t length, const Compute<T>* shifts, double* sums, double* squares) {
  using C = Compute<T>;
  using V = simd::Vec<C>;
  using B = BlockTypes<DeviationOp<T>>;
  constexpr int N = B::kWidth;
  const auto add_to = [](double* to, V v) {
    typename B::AccVec total[B::kParts];
    load_registers<double>(total, to);
    accumulate<DeviationOp<T>>(total, v);
    store_registers<double>(to, total);
  };
  const int64_t ahead =
      kRows > 1 ? (rows[1] - rows[0]) * kRows * static_cast<int64_t>(sizeof(T)) : 0;  // the next group
  for (int64_t j = 0; j < length; j += N) {
    const int count = static_cast<int>(std::min<int64_t>(N, length - j));
    const V about = simd::load<C>(shifts + j);
    V sum[2] = {}, square[2] = {};
#pragma GCC unroll 8
    for (int k = 0; k < kRows; ++k) {
      if constexpr (kRows > 1) simd::prefetch(rows[k] + j, ahead);
      const V x = count == N ? simd::load<C>(rows[k] + j) : simd::load_part<C>(rows[k] + j, count);
      add_deviation(x, about, sum[k % 2], square[k % 2]);
    }
    add_to(sums + j, sum[0] + sum[1]);
    add_to(squares + j, square[0] + square[1]);
  }
}

/// Each column of a block of dense rows. `shifts`, `sums` and `squares` have room for whole registers.
template <class T> void shifted_columns(const Block<T>& block, Compute<T>* shifts, double* sums, double* squares) {
  using C = Compute<T>;
  constexpr int N = simd::kLanes<C>;
  const int64_t room = ceil_div(block.length, N) * N;
  const auto row_at = [&](int64_t i) { return block.base + NestWalk(*block.nest, block.first + i).in(); };
  const T* some[4] = {row_at(0), row_at(block.rows / 4), row_at(block.rows / 2), row_at(block.rows - 1)};
  for (int64_t j = 0; j < room; ++j) {
    shifts[j] = C(0);
    if (j < block.length)
      for (const T* row : some) shifts[j] += C(0.25) * static_cast<C>(row[j]);
  }
  std::fill_n(sums, room, 0.0);
  std::fill_n(squares, room, 0.0);
  for_row_groups(block, [&](const T* const* rows, auto count, int64_t) {
    add_row_group<count>(rows, block.length, shifts, sums, squares);
  });
}

}  // namespace detail
}  // namespace weft::kernels::cpu

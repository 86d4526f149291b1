// Sums of runs of memory that are named by a list: what adding slices by index and bags of embeddings share.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/reduce/reduce_block.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {

/// Runs at from + offsets[order[k]].
template <class T> struct ListedRuns {
  const T* from;
  const int64_t* offsets;
  const int64_t* order;
  const T* operator()(int64_t k) const { return from + offsets[order[k]]; }
};

/// What is summed of run k, or of a register of it: the value itself.
struct AsTheyAre {
  template <class V> V operator()(V v, int64_t) const { return v; }
};
namespace detail {

/// `width` columns of add_dense_runs, from column j on: kVectors registers, the last of them in part.
template <int kVectors, bool kWhole, class T, class Runs, class Scale>
void add_columns(const Runs& runs, int64_t count, const Scale& scale, const T* start, T* to, int64_t j, int width) {
  using C = Compute<T>;
  constexpr int N = simd::kLanes<C>, kParts = sizeof(double) / sizeof(C);
  constexpr int64_t kTogether = 8, kBytes = kVectors * N * int64_t{sizeof(T)};
  const int last = width - (kVectors - 1) * N;
  // What a sum begins with: a start of -0 stays -0 where nothing but -0 is added.
  const auto none = start == nullptr ? C(0) : static_cast<C>(-C(0));
  const auto load = [last](const T* p, int v) {
    return kWhole || v + 1 < kVectors ? simd::load<C>(p + v * N) : simd::load_part<C>(p + v * N, last);
  };
  const auto sum = [&](simd::Vec<C>* sums, int64_t first, int64_t end) {
#pragma GCC unroll 1
    for (int64_t k = first; k < end; ++k) {
      if constexpr (requires { runs.prefetch_after(k, j, kBytes); }) runs.prefetch_after(k, j, kBytes);
      const T* row = runs(k) + j;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[v] += scale(load(row, v), k);
    }
  };
  if (count > kTogether) {
    simd::Vec<double> wide[kVectors][kParts];
    for (auto& parts : wide)
      for (auto& part : parts) part = simd::splat<double>(static_cast<double>(none));
    for (int64_t k = 0; k < count; k += kTogether) {
      simd::Vec<C> few[kVectors];
      for (auto& part : few) part = simd::splat<C>(none);
      sum(few, k, std::min(count, k + kTogether));
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) accumulate<SumOp<T>>(wide[v], few[v]);
    }
    double columns[kVectors * N];
    for (int v = 0; v < kVectors; ++v) store_registers(columns + v * N, wide[v]);
    if (start != nullptr)
      for (int i = 0; i < width; ++i) columns[i] += static_cast<double>(static_cast<C>(start[j + i]));
    C rounded[kVectors * N];
    for (int i = 0; i < kVectors * N; ++i) rounded[i] = static_cast<C>(columns[i]);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      if (kWhole || v + 1 < kVectors)
        simd::store<C>(to + j + v * N, simd::load<C>(rounded + v * N));
      else
        simd::store_part<C>(to + j + v * N, simd::load<C>(rounded + v * N), last);
    return;
  }
  simd::Vec<C> totals[kVectors];
  for (auto& total : totals) total = simd::splat<C>(none);
  sum(totals, 0, count);
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) {
    if (start != nullptr) totals[v] += load(start + j, v);
    if (kWhole || v + 1 < kVectors)
      simd::store<C>(to + j + v * N, totals[v]);
    else
      simd::store_part<C>(to + j + v * N, totals[v], last);
  }
}

}  // namespace detail

/// to[j] = start[j] (0 where it is null) + the sum of element j of `count` dense runs, scaled. As in reductions, eight
/// runs are summed in their own type, and such sums in double.
template <class T, class Runs, class Scale>
void add_dense_runs(const Runs& runs, int64_t count, const Scale& scale, const T* start, T* to, int64_t length) {
  constexpr int N = simd::kLanes<Compute<T>>;
  int64_t j = 0;
  for (; j + 8 * N <= length; j += 8 * N) detail::add_columns<8, true>(runs, count, scale, start, to, j, 8 * N);
  for (; j + 4 * N <= length; j += 4 * N) detail::add_columns<4, true>(runs, count, scale, start, to, j, 4 * N);
  const int left = static_cast<int>(length - j);
  if (left > 3 * N) return detail::add_columns<4, false>(runs, count, scale, start, to, j, left);
  if (left > 2 * N) return detail::add_columns<3, false>(runs, count, scale, start, to, j, left);
  if (left > N) return detail::add_columns<2, false>(runs, count, scale, start, to, j, left);
  if (left > 0) return detail::add_columns<1, false>(runs, count, scale, start, to, j, left);
}

/// The same of runs whose elements lie `step` apart; start lies as `to` does.
template <class T, class Runs, class Scale>
void add_runs(const Runs& runs, int64_t step, int64_t count, const Scale& scale, const T* start, T* to, int64_t to_step,
              int64_t length) {
  using C = Compute<T>;
  using Sum = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;
  if constexpr (std::is_floating_point_v<C>)
    if (step == 1 && to_step == 1) return add_dense_runs(runs, count, scale, start, to, length);
  constexpr int64_t kTile = 512;
  Sum sums[kTile];
  for (int64_t begin = 0; begin < length; begin += kTile) {
    const int64_t width = std::min(kTile, length - begin);
    std::fill_n(sums, width, -Sum(0));  // which leaves a -0 as it is
    for (int64_t k = 0; k < count; ++k) {
      const T* row = runs(k) + begin * step;
      for (int64_t j = 0; j < width; ++j) sums[j] += static_cast<Sum>(scale(static_cast<C>(row[j * step]), k));
    }
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = (begin + j) * to_step;
      const Sum before = start == nullptr ? Sum(0) : static_cast<Sum>(static_cast<C>(start[at]));
      to[at] = static_cast<T>(static_cast<C>(before + sums[j]));
    }
  }
}

}  // namespace weft::kernels::cpu

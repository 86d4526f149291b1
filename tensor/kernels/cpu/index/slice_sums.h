// Sums of runs of memory that are named by a list: what adding slices by index and bags of embeddings share.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/simd.h"
#include "tensor/kernels/cpu/reduce/reduce_block.h"
#include "tensor/kernels/cpu/reduce/reduce_ops.h"

namespace weft::kernels::cpu {

/// Run number i, or a register of it, times its factor.
struct AsTheyAre {
  template <class V> V operator()(V v, int64_t) const { return v; }
};
template <class T> struct Scaled {
  const T* factors;
  int64_t step;
  template <class V> WEFT_SIMD V operator()(V v, int64_t i) const {
    return v * static_cast<Compute<T>>(factors[i * step]);
  }
};

/// to[j] = start[j] (0 where it is null) + the sum of the dense runs at from + places[order[k]], scaled: as many
/// columns at a time as registers hold in double.
template <class T, class Scale>
void add_dense_runs(const T* from, const int64_t* places, const int64_t* order, int64_t count, const Scale& scale,
                    const T* start, T* to, int64_t length) {
  using C = Compute<T>;
  constexpr int64_t N = simd::kLanes<C>, kVectors = 4, kParts = sizeof(double) / sizeof(C);
  if (count == 1) {  // the sum of two values is rounded once either way
    const T* row = from + places[order[0]];
    for (int64_t j = 0; j < length; j += N) {
      const int width = static_cast<int>(std::min(N, length - j));
      simd::Vec<C> v = scale(simd::load_part<C>(row + j, width), order[0]) + C(0);
      if (start != nullptr) v += simd::load_part<C>(start + j, width);
      simd::store_part<C>(to + j, v, width);
    }
    return;
  }
  for (int64_t j = 0; j < length; j += kVectors * N) {
    const int64_t width = std::min(kVectors * N, length - j);
    simd::Vec<double> sums[kVectors][kParts] = {};
    if (width == kVectors * N) {
      for (int64_t k = 0; k < count; ++k) {
        const T* row = from + places[order[k]] + j;
#pragma GCC unroll 4
        for (int64_t v = 0; v < kVectors; ++v)
          detail::accumulate<SumOp<T>>(sums[v], scale(simd::load<C>(row + v * N), order[k]));
      }
    } else {
      for (int64_t k = 0; k < count; ++k) {
        const T* row = from + places[order[k]] + j;
        for (int64_t v = 0; v * N < width; ++v)
          detail::accumulate<SumOp<T>>(
              sums[v], scale(simd::load_part<C>(row + v * N, static_cast<int>(std::min(N, width - v * N))), order[k]));
      }
    }
    double columns[kVectors * N];
    for (int64_t v = 0; v < kVectors; ++v) detail::store_registers(columns + v * N, sums[v]);
    if (start == nullptr)
      for (int64_t i = 0; i < width; ++i) to[j + i] = static_cast<T>(static_cast<C>(columns[i]));
    else
      for (int64_t i = 0; i < width; ++i)
        to[j + i] = static_cast<T>(static_cast<C>(static_cast<double>(static_cast<C>(start[j + i])) + columns[i]));
  }
}

/// The same of runs whose elements lie `step` apart; start lies as `to` does.
template <class T, class Scale>
void add_runs(const T* from, int64_t step, const int64_t* places, const int64_t* order, int64_t count,
              const Scale& scale, const T* start, T* to, int64_t to_step, int64_t length) {
  using C = Compute<T>;
  using Sum = std::conditional_t<std::is_floating_point_v<C>, double, uint64_t>;
  if constexpr (std::is_floating_point_v<C>)
    if (step == 1 && to_step == 1) return add_dense_runs(from, places, order, count, scale, start, to, length);
  constexpr int64_t kTile = 512;
  Sum sums[kTile];
  for (int64_t begin = 0; begin < length; begin += kTile) {
    const int64_t width = std::min(kTile, length - begin);
    std::fill_n(sums, width, Sum(0));
    for (int64_t k = 0; k < count; ++k) {
      const T* row = from + places[order[k]] + begin * step;
      for (int64_t j = 0; j < width; ++j) sums[j] += static_cast<Sum>(scale(static_cast<C>(row[j * step]), order[k]));
    }
    for (int64_t j = 0; j < width; ++j) {
      const int64_t at = (begin + j) * to_step;
      const Sum before = start == nullptr ? Sum(0) : static_cast<Sum>(static_cast<C>(start[at]));
      to[at] = static_cast<T>(static_cast<C>(before + sums[j]));
    }
  }
}

}  // namespace weft::kernels::cpu

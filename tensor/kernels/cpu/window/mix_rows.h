// Weighted sums of rows of numbers, as resampling and sampling make pixels of pixels.
#pragma once

#include <algorithm>

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu {

/// out[0, n) = the sum of weights[k] * rows[at[k] * step + 0, n), K terms (0: `count`).
template <int K, class T>
void mix_rows(const T* rows, int64_t step, const int64_t* at, const T* weights, int64_t count, int64_t n, T* out) {
  constexpr int N = simd::kLanes<T>;
  const int64_t terms = K ? K : count;
  for (int64_t i = 0; i < n; i += N) {
    const int part = static_cast<int>(std::min<int64_t>(N, n - i));
    simd::Vec<T, N> sum{};
    for (int64_t k = 0; k < terms; ++k) {
      const T* row = rows + at[k] * step + i;
      sum += simd::splat<T, N>(weights[k]) * (part == N ? simd::load<T, N>(row) : simd::load_part<T, N>(row, part));
    }
    if (part == N)
      simd::store<T, N>(out + i, sum);
    else
      simd::store_part<T, N>(out + i, sum, part);
  }
}

template <class T>
void mix_rows(const T* rows, int64_t step, const int64_t* at, const T* weights, int64_t count, int64_t n, T* out) {
  if (count == 1 && weights[0] == T{1}) {
    std::copy_n(rows + at[0] * step, n, out);
    return;
  }
  if (count == 2) return mix_rows<2>(rows, step, at, weights, count, n, out);
  if (count == 4) return mix_rows<4>(rows, step, at, weights, count, n, out);
  mix_rows<0>(rows, step, at, weights, count, n, out);
}

}  // namespace weft::kernels::cpu

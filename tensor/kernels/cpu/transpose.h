// Square blocks transposed in registers: N registers of N lanes, in log2(N) rounds of exchanges between pairs of them.
#pragma once

#include <utility>

#include "tensor/kernels/cpu/simd.h"

namespace weft::kernels::cpu::simd {

namespace detail {
/// Lane l of the pair's first (kUpper: second) result: lanes whose number has the bit `Step` change places with those of the
/// partner that lack it.
template <int N, int Step, bool kUpper, class V, int... L>
WEFT_SIMD V exchange(V first, V second, std::integer_sequence<int, L...>) {
  if constexpr (kUpper)
    return __builtin_shufflevector(first, second, ((L & Step) != 0 ? N + L : L + Step)...);
  else
    return __builtin_shufflevector(first, second, ((L & Step) != 0 ? N + L - Step : L)...);
}
}  // namespace detail

/// rows[i] lane j becomes rows[j] lane i.
template <class T, int N = kLanes<T>, int Step = 1>
WEFT_SIMD void transpose(Vec<T, N>* rows) {
  if constexpr (Step < N) {
    using Lanes = std::make_integer_sequence<int, N>;
#pragma GCC unroll 64
    for (int i = 0; i < N; ++i) {
      if ((i & Step) != 0) continue;
      const Vec<T, N> first = rows[i], second = rows[i + Step];
      rows[i] = detail::exchange<N, Step, false>(first, second, Lanes{});
      rows[i + Step] = detail::exchange<N, Step, true>(first, second, Lanes{});
    }
    transpose<T, N, Step * 2>(rows);
  }
}

}  // namespace weft::kernels::cpu::simd

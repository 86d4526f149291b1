// fold_registers: the sums of the lanes of several registers.
#pragma once

#include <utility>

#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu {

namespace detail {
/// Registers in which each row has `Width` lanes: those of v and then those of w with half as many, the halves added.
template <int Width, class V, int... I> WEFT_SIMD V halve(V v, V w, std::integer_sequence<int, I...>) {
  constexpr int kHalf = Width / 2;
  return __builtin_shufflevector(v, w, (I / kHalf * Width + I % kHalf)...) +
         __builtin_shufflevector(v, w, (I / kHalf * Width + I % kHalf + kHalf)...);
}
}  // namespace detail

/// The sums of the lanes of each of kRows registers, in the first lanes of the first (of as many as they fill): rows
/// share a register as soon as they fit one, which takes a third of the instructions that folding each would.
template <class T, int kRows, int Width = simd::kLanes<T>> WEFT_SIMD void fold_registers(simd::Vec<T>* rows) {
  if constexpr (Width > 1) {
    constexpr auto kLaneNumbers = std::make_integer_sequence<int, simd::kLanes<T>>{};
#pragma GCC unroll 16
    for (int i = 0; i < (kRows + 1) / 2; ++i)
      rows[i] = detail::halve<Width>(rows[2 * i], rows[2 * i + 1 < kRows ? 2 * i + 1 : 2 * i], kLaneNumbers);
    fold_registers<T, (kRows + 1) / 2, Width / 2>(rows);
  }
}

}  // namespace weft::kernels::cpu

// Transposition in registers: N registers of N lanes, in log2(N) rounds of exchanges between pairs of them.
#pragma once

#include <utility>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/simd.h"

namespace weft::kernels::cpu::simd {

namespace detail {
/// Lane l of the pair's first (kUpper: second) result: lanes whose number has the bit `Step` change places with those
/// of the partner that lack it.
template <int N, int Step, bool kUpper, class V, int... L>
WEFT_SIMD V exchange(V first, V second, std::integer_sequence<int, L...>) {
  if constexpr (kUpper)
    return __builtin_shufflevector(first, second, ((L & Step) != 0 ? N + L : L + Step)...);
  else
    return __builtin_shufflevector(first, second, ((L & Step) != 0 ? N + L - Step : L)...);
}
}  // namespace detail

/// rows[i] lane j becomes rows[j] lane i.
template <class T, int N = kLanes<T>, int Step = 1> WEFT_SIMD void transpose(Vec<T, N>* rows) {
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

namespace detail {
// Of words of 1, 2, 4 or 8 bytes: what moves them is compiled once.
template <class Word>
bool interleave_words(const Word* from, int64_t from_step, Word* to, int64_t to_step, int64_t rows, int64_t columns);
template <class Word>
void transpose_words(const Word* from, int64_t from_step, Word* to, int64_t to_step, int64_t rows, int64_t columns);
}  // namespace detail

/// transpose_copy() of up to kMostInterleaved rows or columns without gaps between them. False for others: nothing was
/// done.
template <class T>
bool copy_interleaved(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  return detail::interleave_words(reinterpret_cast<const WordOf<T>*>(from), from_step, reinterpret_cast<WordOf<T>*>(to),
                                  to_step, rows, columns);
}

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns; T arithmetic. Whole cache lines go from
/// memory to memory by way of registers, so that it does not matter that rows a power of two apart map to few cache
/// sets.
template <class T>
void transpose_copy(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  detail::transpose_words(reinterpret_cast<const WordOf<T>*>(from), from_step, reinterpret_cast<WordOf<T>*>(to),
                          to_step, rows, columns);
}

}  // namespace weft::kernels::cpu::simd

namespace weft::kernels::cpu {

/// to[j * to_step + i] = from[i * from_line + j * from_step] for lines i and elements j of `size` bytes: 1, 2, 4 or 8.
void to_columns(int64_t size, const void* from, int64_t from_line, int64_t from_step, void* to, int64_t to_step,
                int64_t lines, int64_t length);

}  // namespace weft::kernels::cpu

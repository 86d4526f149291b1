// Transposition in registers: N registers of N lanes, in log2(N) rounds of exchanges between pairs of them.
#pragma once

#include <utility>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/interleave.h"
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
/// transpose_copy() by blocks of N x N, and what is left by smaller ones as far as these fill half a register.
template <class T, int N>
void transpose_blocks(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  if constexpr (N * sizeof(T) < 8 || N < 4) {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) to[j * to_step + i] = from[i * from_step + j];
  } else {
    const int64_t whole_rows = rows / N * N, whole_columns = columns / N * N;
    for (int64_t j = 0; j < whole_columns; j += N)
      for (int64_t i = 0; i < whole_rows; i += N) {
        Vec<T, N> block[N];
#pragma GCC unroll 16
        for (int k = 0; k < N; ++k) block[k] = load<T, N>(from + (i + k) * from_step + j);
        transpose<T, N>(block);
#pragma GCC unroll 16
        for (int k = 0; k < N; ++k) store<T, N>(to + (j + k) * to_step + i, block[k]);
      }
    const auto rest = [&](int64_t i, int64_t j, int64_t some_rows, int64_t some_columns) {
      if (some_rows > 0 && some_columns > 0)
        transpose_blocks<T, N / 2>(from + i * from_step + j, from_step, to + j * to_step + i, to_step, some_rows,
                                   some_columns);
    };
    rest(whole_rows, 0, rows - whole_rows, whole_columns);
    rest(0, whole_columns, rows, columns - whole_columns);
  }
}
}  // namespace detail

/// transpose_copy() of up to kMostInterleaved rows or columns without gaps between them. False for others: nothing was
/// done.
template <class T>
bool copy_interleaved(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  if (rows > 1 && rows <= kMostInterleaved && to_step == rows)
    return interleave(from, from_step, rows, to, columns), true;
  if (columns > 1 && columns <= kMostInterleaved && from_step == columns)
    return deinterleave(from, columns, to, to_step, rows), true;
  return false;
}

/// to[j * to_step + i] = from[i * from_step + j] for i < rows, j < columns; T arithmetic. Whole cache lines go from
/// memory to memory by way of registers, so that it does not matter that rows a power of two apart map to few cache
/// sets.
template <class T>
void transpose_copy(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  constexpr int N = kLanes<T> < 16 ? kLanes<T> : 16;
  if (copy_interleaved(from, from_step, to, to_step, rows, columns)) return;
  detail::transpose_blocks<T, N>(from, from_step, to, to_step, rows, columns);
}

}  // namespace weft::kernels::cpu::simd

namespace weft::kernels::cpu {

/// to[j * to_step + i] = from[i * from_line + j * from_step] for lines i and elements j.
template <class T>
void to_columns(const T* from, int64_t from_line, int64_t from_step, T* to, int64_t to_step, int64_t lines,
                int64_t length) {
  using Bits = std::conditional_t<is_half<T>, uint16_t, std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>>;
  const Bits* source = reinterpret_cast<const Bits*>(from);
  Bits* target = reinterpret_cast<Bits*>(to);
  if (from_step == 1) return simd::transpose_copy(source, from_line, target, to_step, lines, length);
  for (int64_t j = 0; j < length; ++j)
    for (int64_t i = 0; i < lines; ++i) target[j * to_step + i] = source[i * from_line + j * from_step];
}

}  // namespace weft::kernels::cpu

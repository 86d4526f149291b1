#include "tensor/kernels/cpu/base/transpose.h"

#include "tensor/kernels/cpu/base/interleave.h"

namespace weft::kernels::cpu::simd {
namespace {

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

}  // namespace

template <class T>
bool detail::interleave_words(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  if (rows > 1 && rows <= kMostInterleaved && to_step == rows)
    return simd::interleave(from, from_step, rows, to, columns), true;
  if (columns > 1 && columns <= kMostInterleaved && from_step == columns)
    return simd::deinterleave(from, columns, to, to_step, rows), true;
  return false;
}

template <class T>
void detail::transpose_words(const T* from, int64_t from_step, T* to, int64_t to_step, int64_t rows, int64_t columns) {
  constexpr int N = kLanes<T> < 16 ? kLanes<T> : 16;
  if (interleave_words(from, from_step, to, to_step, rows, columns)) return;
  transpose_blocks<T, N>(from, from_step, to, to_step, rows, columns);
}

#define WEFT_TRANSPOSE_WORDS(T)                                                                \
  template bool detail::interleave_words<T>(const T*, int64_t, T*, int64_t, int64_t, int64_t); \
  template void detail::transpose_words<T>(const T*, int64_t, T*, int64_t, int64_t, int64_t);
WEFT_TRANSPOSE_WORDS(uint8_t)
WEFT_TRANSPOSE_WORDS(uint16_t)
WEFT_TRANSPOSE_WORDS(uint32_t)
WEFT_TRANSPOSE_WORDS(uint64_t)
#undef WEFT_TRANSPOSE_WORDS

}  // namespace weft::kernels::cpu::simd

namespace weft::kernels::cpu {
namespace {

template <class Word>
void words_to_columns(const void* from, int64_t from_line, int64_t from_step, void* to, int64_t to_step, int64_t lines,
                      int64_t length) {
  const Word* source = static_cast<const Word*>(from);
  Word* target = static_cast<Word*>(to);
  if (from_step == 1) return simd::transpose_copy(source, from_line, target, to_step, lines, length);
  for (int64_t j = 0; j < length; ++j)
    for (int64_t i = 0; i < lines; ++i) target[j * to_step + i] = source[i * from_line + j * from_step];
}

}  // namespace

void to_columns(int64_t size, const void* from, int64_t from_line, int64_t from_step, void* to, int64_t to_step,
                int64_t lines, int64_t length) {
  switch (size) {
    case 1: return words_to_columns<uint8_t>(from, from_line, from_step, to, to_step, lines, length);
    case 2: return words_to_columns<uint16_t>(from, from_line, from_step, to, to_step, lines, length);
    case 4: return words_to_columns<uint32_t>(from, from_line, from_step, to, to_step, lines, length);
    default: return words_to_columns<uint64_t>(from, from_line, from_step, to, to_step, lines, length);
  }
}

}  // namespace weft::kernels::cpu

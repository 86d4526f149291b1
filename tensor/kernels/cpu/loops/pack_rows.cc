#include "tensor/kernels/cpu/loops/pack_rows.h"

#include <cstring>

#include "tensor/kernels/cpu/base/convert.h"

namespace weft::kernels::cpu::detail {
namespace {

/// `dense` has rows of kColumns words, one after the other; those of `stepped` lie apart.
template <class Word, int kColumns, bool kPack, class Dense, class Stepped>
void move_few(Dense* dense, Stepped* stepped, int64_t step, int64_t row_step, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row, stepped += row_step, dense += kColumns * sizeof(Word))
    for (int64_t i = 0; i < kColumns; ++i)
      if constexpr (kPack)
        std::memcpy(dense + i * static_cast<int64_t>(sizeof(Word)), stepped + i * step, sizeof(Word));
      else
        std::memcpy(stepped + i * step, dense + i * static_cast<int64_t>(sizeof(Word)), sizeof(Word));
}

template <class Word, bool kPack, class Dense, class Stepped>
void move_rows(Dense* dense, Stepped* stepped, int64_t step, int64_t row_step, int64_t columns, int64_t rows) {
  switch (columns) {
    case 1: return move_few<Word, 1, kPack>(dense, stepped, step, row_step, rows);
    case 2: return move_few<Word, 2, kPack>(dense, stepped, step, row_step, rows);
    case 3: return move_few<Word, 3, kPack>(dense, stepped, step, row_step, rows);
    case 4: return move_few<Word, 4, kPack>(dense, stepped, step, row_step, rows);
    case 5: return move_few<Word, 5, kPack>(dense, stepped, step, row_step, rows);
    case 6: return move_few<Word, 6, kPack>(dense, stepped, step, row_step, rows);
    case 7: return move_few<Word, 7, kPack>(dense, stepped, step, row_step, rows);
    case 8: return move_few<Word, 8, kPack>(dense, stepped, step, row_step, rows);
    default: break;
  }
  constexpr auto kSize = static_cast<int64_t>(sizeof(Word));
  const auto bytes = static_cast<size_t>(columns * kSize);
  for (int64_t row = 0; row < rows; ++row, stepped += row_step, dense += columns * kSize)
    if constexpr (kPack)
      step == kSize ? static_cast<void>(std::memcpy(dense, stepped, bytes))
                    : gather_elements<Word>(stepped, step, dense, columns);
    else
      step == kSize ? static_cast<void>(std::memcpy(stepped, dense, bytes))
                    : move_elements(dense, kSize, stepped, step, kSize, columns);
}

}  // namespace

template <class Word>
void pack_rows(const char* from, int64_t step, int64_t row_step, int64_t columns, int64_t rows, char* to) {
  move_rows<Word, true>(to, from, step, row_step, columns, rows);
}
template <class Word>
void unpack_rows(const char* from, int64_t columns, int64_t rows, char* to, int64_t step, int64_t row_step) {
  move_rows<Word, false>(from, to, step, row_step, columns, rows);
}

#define WEFT_ROWS_OF(Word)                                                               \
  template void pack_rows<Word>(const char*, int64_t, int64_t, int64_t, int64_t, char*); \
  template void unpack_rows<Word>(const char*, int64_t, int64_t, char*, int64_t, int64_t);
WEFT_ROWS_OF(uint8_t)
WEFT_ROWS_OF(uint16_t)
WEFT_ROWS_OF(uint32_t)
WEFT_ROWS_OF(uint64_t)
#undef WEFT_ROWS_OF

}  // namespace weft::kernels::cpu::detail

// Short rows between memory where their elements lie apart and dense memory. A call for each row would take longer than
// what it copies.
#pragma once

#include <cstdint>

namespace weft::kernels::cpu::detail {

/// Copies `rows` rows of `columns` words, whose words lie `step` and rows `row_step` bytes apart, to dense memory, and
/// back.
template <class Word>
void pack_rows(const char* from, int64_t step, int64_t row_step, int64_t columns, int64_t rows, char* to);
template <class Word>
void unpack_rows(const char* from, int64_t columns, int64_t rows, char* to, int64_t step, int64_t row_step);

}  // namespace weft::kernels::cpu::detail

// Slices of an axis, copied and added by index: what index_select and embedding share.
#pragma once

#include "tensor/core/operand.h"
#include "tensor/kernels/cpu/index/index_list.h"

namespace weft::kernels::cpu {

/// How slices of a table and slices of a list of results lie in memory.
struct SliceLayout {
  Nest slice;            // the axes of one slice; in: the table, out: the list
  int64_t table_stride;  // from one slice of the table to the next
  int64_t table_size;
  Nest list;  // the positions of the list's slices (out), row-major, and how far into the table each begins (in)
};

/// list slice i = table slice index[i].
void copy_slices(const Operand& table, std::span<const int64_t> index, const SliceLayout& layout, const Operand& list);
/// table slice rows[i] = list slice i, in this order where `unique` does not promise that no row comes twice.
/// `row_offsets`: where the rows lie in memory, in units of the layout's table_stride.
void put_slices(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                const SliceLayout& layout, bool unique, const Operand& table);
/// table = start, table slice rows[i] += list slice i; `skip` is a row that is left out (negative: none). The start
/// is the table itself, another operand with the layout of the table, or zeros where it is undefined.
void add_slices(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
                const SliceLayout& layout, int64_t skip, const Operand& start, const Operand& table);
/// The same, none left out. Slices of one element, and slices of a few or whose elements lie farther apart than the
/// rows, where few are added to one, are added one after the other; in their own dtype, but for 16-bit floats.
void add_rows(const Operand& list, std::span<const int64_t> rows, std::span<const int64_t> row_offsets,
              const SliceLayout& layout, const Operand& start, const Operand& table);

}  // namespace weft::kernels::cpu

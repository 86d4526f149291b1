#include "tensor/kernels/cpu/index/axis_slices.h"

#include "tensor/runtime/parallel.h"

namespace weft::kernels::cpu {
namespace {

/// Whether these axes of the table are one in memory too.
bool are_one(const Operand& table, int64_t axis, int64_t axes) {
  for (int64_t a = axis; a + 1 < axis + axes; ++a)
    if (table.stride(a) != table.stride(a + 1) * table.size(a + 1)) return false;
  return true;
}

SliceLayout layout_of(const Operand& table, int64_t axis, int64_t axes, const Operand& list) {
  if (table.rank() == 0) return {Nest{}, 0, 1, Nest{}};
  SliceLayout layout{Nest{}, are_one(table, axis, axes) ? table.stride(axis + axes - 1) : 1, 1, Nest{}};
  for (int64_t i = 0; i < table.rank(); ++i) {
    if (i >= axis && i < axis + axes)
      layout.table_size *= table.size(i);
    else
      layout.slice.push({table.size(i), table.stride(i), list.stride(i < axis ? i : i - axes + 1)});
  }
  layout.slice.sort_and_merge();
  layout.list.push({list.size(axis), 0, list.stride(axis)});
  return layout;
}

}  // namespace

AxisSlices::AxisSlices(const Operand& table, int64_t axis, int64_t axes, const Operand& index, const Operand& list)
    : several_(!are_one(table, axis, axes)),
      layout_(layout_of(table, axis, axes, list)),
      rows_(index, layout_.table_size, "rows"),
      offsets_(several_ ? rows_.count() : 0) {
  if (!several_) return;
  parallel_for(rows_.count(), 8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = rows_[i], offset = 0;
      for (int64_t a = axis + axes - 1; a >= axis; --a) {
        offset += rest % table.size(a) * table.stride(a);
        rest /= table.size(a);
      }
      offsets_.data()[i] = offset;
    }
  });
}

}  // namespace weft::kernels::cpu

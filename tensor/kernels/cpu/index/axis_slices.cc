#include "tensor/kernels/cpu/index/axis_slices.h"

#include <vector>

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

/// One of several axes that count as one. Numbers below 2^32 are divided by its size by way of a product (Lemire et
/// al., "Faster remainder by direct computation", 2019): a division takes longer than all else that is done with an
/// index.
struct Digit {
  Digit(int64_t size, int64_t stride, bool is_small)
      : size(size), stride(stride), factor(is_small && size > 1 ? ~uint64_t{0} / static_cast<uint64_t>(size) + 1 : 0) {}
  int64_t quotient(int64_t n) const {
    if (factor == 0) return n / size;
    return static_cast<int64_t>(static_cast<unsigned __int128>(factor) * static_cast<uint64_t>(n) >> 64);
  }
  int64_t size, stride;
  uint64_t factor;
};

}  // namespace

AxisSlices::AxisSlices(const Operand& table, int64_t axis, int64_t axes, const Operand& index, const Operand& list)
    : several_(!are_one(table, axis, axes)),
      layout_(layout_of(table, axis, axes, list)),
      rows_(index, layout_.table_size),
      offsets_(several_ ? rows_.count() : 0) {
  if (!several_) return;
  std::vector<Digit> digits;
  for (int64_t a = axis + axes - 1; a > axis; --a)
    digits.emplace_back(table.size(a), table.stride(a), layout_.table_size < int64_t{1} << 32);
  parallel_for(rows_.count(), 8192, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t rest = rows_[i], offset = 0;
      for (const Digit& digit : digits) {
        const int64_t above = digit.quotient(rest);
        offset += (rest - above * digit.size) * digit.stride;
        rest = above;
      }
      offsets_.data()[i] = offset + rest * table.stride(axis);
    }
  });
}

}  // namespace weft::kernels::cpu

#include "tensor/kernels/cpu/loops/rows.h"

#include <algorithm>
#include <cstdlib>

namespace weft::kernels::cpu {

RowView::RowView(const Operand& x, int64_t first, int64_t last) : base(x.base), offset(x.view->offset()) {
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) continue;
    (first <= i && i <= last ? inner : outer).push({x.size(i), x.stride(i), 0});
  }
  inner.merge();
  outer.merge();
}

RowView::RowView(const Operand& x, int64_t axis, const Operand& like) : base(x.base), offset(x.view->offset()) {
  int64_t order[kMaxAxes];
  int64_t count = 0;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) continue;
    if (i == axis)
      inner.push({x.size(i), x.stride(i), 0});
    else
      order[count++] = i;
  }
  const auto farther = [&](int64_t a, int64_t b) { return std::abs(like.stride(a)) > std::abs(like.stride(b)); };
  if (!std::is_sorted(order, order + count, farther)) std::stable_sort(order, order + count, farther);
  for (int64_t i = 0; i < count; ++i) outer.push({x.size(order[i]), x.stride(order[i]), 0});
  outer.merge();
}

}  // namespace weft::kernels::cpu

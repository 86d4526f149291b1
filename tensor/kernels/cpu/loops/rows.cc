#include "tensor/kernels/cpu/loops/rows.h"

namespace weft::kernels::cpu {

RowView::RowView(const Operand& x, int64_t first, int64_t last) : base(x.base), offset(x.view->offset()) {
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.size(i) == 1) continue;
    (first <= i && i <= last ? inner : outer).push({x.size(i), x.stride(i), 0});
  }
  inner.merge();
  outer.merge();
}

}  // namespace weft::kernels::cpu

#include "tensor/kernels/cpu/reduce/reduce_plan.h"

namespace weft::kernels::cpu {

ReducePlan plan_reduction(const Operand& x, const IntList& axes, const Operand& out) {
  ReducePlan plan;
  plan.in_offset = x.view->offset();
  plan.out_offset = out.view->offset();
  uint32_t gone = 0;
  for (int64_t axis : axes) gone |= 1u << axis;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool reduced = ((gone >> i) & 1u) != 0;
    NestAxis axis{x.size(i), x.stride(i), reduced ? 0 : out.stride(i)};
    if (axis.size == 1) continue;
    if (axis.in < 0 && axis.size > 0) {
      plan.in_offset += axis.in * (axis.size - 1);
      plan.out_offset += axis.out * (axis.size - 1);
      axis.in = -axis.in;
      axis.out = -axis.out;
    }
    (reduced ? plan.reduced : plan.kept).push(axis);
  }
  plan.kept.sort_and_merge();
  plan.reduced.sort_and_merge();
  return plan;
}

}  // namespace weft::kernels::cpu

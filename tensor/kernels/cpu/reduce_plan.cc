#include "tensor/kernels/cpu/reduce_plan.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace weft::kernels::cpu {
namespace {

// Broadcast axes (stride 0) count as the widest: what is nearest in memory must be innermost.
int64_t distance(const NestAxis& axis) { return axis.in == 0 ? std::numeric_limits<int64_t>::max() : axis.in; }

void sort_and_merge(Nest& nest) {
  std::stable_sort(nest.axes, nest.axes + nest.rank,
                   [](const NestAxis& a, const NestAxis& b) { return distance(a) > distance(b); });
  int last = 0;
  for (int i = 1; i < nest.rank; ++i) {
    NestAxis& outer = nest.axes[last];
    const NestAxis& inner = nest.axes[i];
    if (outer.in == inner.in * inner.size && outer.out == inner.out * inner.size)
      outer = {outer.size * inner.size, inner.in, inner.out};
    else
      nest.axes[++last] = inner;
  }
  if (nest.rank > 0) nest.rank = last + 1;
}

}  // namespace

int64_t Nest::count() const {
  int64_t product = 1;
  for (int i = 0; i < rank; ++i) product *= axes[i].size;
  return product;
}

Nest Nest::outer() const {
  Nest result = *this;
  if (result.rank > 0) --result.rank;
  return result;
}

NestWalk::NestWalk(const Nest& nest, int64_t linear) : nest_(nest) {
  for (int i = nest.rank - 1; i >= 0; --i) {
    const NestAxis& axis = nest.axes[i];
    index_[i] = linear % axis.size;
    linear /= axis.size;
    in_ += index_[i] * axis.in;
    out_ += index_[i] * axis.out;
  }
}

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
  sort_and_merge(plan.kept);
  sort_and_merge(plan.reduced);
  return plan;
}

}  // namespace weft::kernels::cpu

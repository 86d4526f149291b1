#include "tensor/ops/reduce.h"

namespace weft::op {
namespace {

Spec reduced(const Operand& x, const IntList& axes, bool keepdim, DType dtype) {
  return spec_of(reduced_shape(x.shape(), axes, keepdim), dtype);
}

}  // namespace

Shape reduced_shape(const Shape& shape, const IntList& axes, bool keepdim) {
  Shape out;
  size_t next = 0;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const bool is_reduced = next < axes.size() && axes[next] == i;
    if (is_reduced) ++next;
    if (!is_reduced || keepdim) out.push_back(is_reduced ? 1 : shape[static_cast<size_t>(i)]);
  }
  return out;
}

int64_t reduced_count(const Shape& shape, const IntList& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

Spec Summation::infer(const Operand& x) const {
  return reduced(x, axes, keepdim, is_floating(x.dtype) ? x.dtype : i64);
}

Spec Extremum::infer(const Operand& x) const {
  Spec out = reduced(x, axes, keepdim, x.dtype);
  if (out.view.numel() > 0 && reduced_count(x.shape(), axes) == 0)
    throw ShapeError("the extremum of nothing is undefined: a reduced axis has size 0");
  return out;
}

Spec TruthOf::infer(const Operand& x) const { return reduced(x, axes, keepdim, boolean); }
Spec NanSum::infer(const Operand& x) const { return reduced(x, axes, keepdim, x.dtype); }
Spec Logsumexp::infer(const Operand& x) const { return reduced(x, axes, keepdim, x.dtype); }
Spec Norm::infer(const Operand& x) const { return reduced(x, axes, keepdim, x.dtype); }
Spec Var::infer(const Operand& x) const { return reduced(x, axes, keepdim, x.dtype); }

}  // namespace weft::op

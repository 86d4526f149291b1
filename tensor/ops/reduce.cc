#include "tensor/ops/reduce.h"

#include "tensor/kernels/cpu/reduce/reduce.h"
#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/compare.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/fill.h"
#include "tensor/ops/unary.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

Shape reduced_shape(const Shape& shape, const IntList& axes, bool keepdim) {
  Shape out;
  size_t next = 0;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    const bool reduced = next < axes.size() && axes[next] == i;
    if (reduced) ++next;
    if (!reduced || keepdim) out.push_back(reduced ? 1 : shape[static_cast<size_t>(i)]);
  }
  return out;
}

int64_t reduced_count(const Shape& shape, const IntList& axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
  return count;
}

void check_not_empty(const Tensor& x, const IntList& axes) {
  if (reduced_count(x.shape(), axes) == 0 && checked_numel(reduced_shape(x.shape(), axes, false)) > 0)
    throw ShapeError("the extremum of nothing is undefined: a reduced axis has size 0");
}

/// Row-major results have the same memory whether the axes are kept or not: the kernels see them kept.
template <class Kernel>
void run_kept(const Tensor& x, const IntList& axes, Tensor& out, Kernel kernel) {
  const View kept = View::contiguous(keepdim_shape(x.shape(), axes));
  kernel(operand(x), cpu::Operand{out.raw(), &kept, out.dtype()});
}

void check_floating(const Tensor& x) {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes; cast first, e.g. x.to(f32)");
}

}  // namespace

namespace op {

namespace {
Spec reduced(const Tensor& x, const IntList& axes, bool keepdim, DType dtype) {
  return spec_of(reduced_shape(x.shape(), axes, keepdim), dtype);
}
DType summed(DType dtype) { return is_floating(dtype) ? dtype : i64; }
}  // namespace

#define WEFT_REDUCTION(Op, function, check, dtype)                                                \
  template <>                                                                                     \
  Spec Reduction<Op>::infer(const Tensor& x) const {                                              \
    check;                                                                                        \
    return reduced(x, axes, keepdim, dtype);                                                      \
  }                                                                                               \
  template <>                                                                                     \
  void Reduction<Op>::run(const Tensor& x, Tensor& out) const {                                   \
    run_kept(x, axes, out, [&](const auto& in, const auto& to) { cpu::function(in, axes, to); }); \
  }
WEFT_REDUCTION(Sum, sum, (void)0, summed(x.dtype()))
WEFT_REDUCTION(Prod, prod, (void)0, summed(x.dtype()))
WEFT_REDUCTION(Max, max, check_not_empty(x, axes), x.dtype())
WEFT_REDUCTION(Min, min, check_not_empty(x, axes), x.dtype())
WEFT_REDUCTION(All, all, (void)0, boolean)
WEFT_REDUCTION(Any, any, (void)0, boolean)
WEFT_REDUCTION(Logsumexp, logsumexp, check_floating(x), x.dtype())
#undef WEFT_REDUCTION

Spec Norm::infer(const Tensor& x) const {
  check_floating(x);
  return reduced(x, axes, keepdim, x.dtype());
}
void Norm::run(const Tensor& x, Tensor& out) const {
  run_kept(x, axes, out, [&](const auto& in, const auto& to) { cpu::norm(in, axes, p, to); });
}

Spec Var::infer(const Tensor& x) const {
  check_floating(x);
  return reduced(x, axes, keepdim, x.dtype());
}
void Var::run(const Tensor& x, Tensor& out) const {
  run_kept(x, axes, out, [&](const auto& in, const auto& to) { cpu::variance(in, axes, correction, to); });
}

}  // namespace op

namespace {

template <class Op>
Tensor reduce(const char* name, const Tensor& x, const Axes& axes, KeepDim keep) {
  Frame frame(name, x);
  Op op;
  op.axes = axes.normalized(x.rank());
  op.keepdim = keep.value;
  return apply(op, x);
}

}  // namespace

IntList Axes::normalized(int64_t rank) const {
  IntList out;
  bool seen[kMaxAxes] = {};
  for (int64_t axis : list_) {
    const int64_t a = normalize_axis(axis, rank);
    if (seen[a]) throw IndexError(text("axis ", axis, " is given twice"));
    seen[a] = true;
  }
  for (int64_t a = 0; a < rank; ++a)
    if (list_.empty() || seen[a]) out.push_back(a);
  return out;
}

Tensor sum(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Sum>("sum", x, axes, keep); }
Tensor prod(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Prod>("prod", x, axes, keep); }
Tensor max(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Max>("max", x, axes, keep); }
Tensor min(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Min>("min", x, axes, keep); }
Tensor all(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::All>("all", x, axes, keep); }
Tensor any(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Any>("any", x, axes, keep); }
Tensor logsumexp(const Tensor& x, const Axes& axes, KeepDim keep) {
  return reduce<op::Logsumexp>("logsumexp", x, axes, keep);
}

Tensor mean(const Tensor& x, const Axes& axes, KeepDim keep) {
  Frame frame("mean", x);
  check_floating(x);
  const int64_t count = reduced_count(x.shape(), axes.normalized(x.rank()));
  return div(sum(x, axes, keep), static_cast<double>(count));
}

Tensor norm(const Tensor& x, double p, const Axes& axes, KeepDim keep) {
  Frame frame("norm", x);
  return apply(op::Norm{p, axes.normalized(x.rank()), keep.value}, x);
}

Tensor var(const Tensor& x, const Axes& axes, int64_t correction, KeepDim keep) {
  Frame frame("var", x);
  return apply(op::Var{axes.normalized(x.rank()), static_cast<double>(correction), keep.value}, x);
}

Tensor std(const Tensor& x, const Axes& axes, int64_t correction, KeepDim keep) {
  Frame frame("std", x);
  const Tensor variance = var(x, axes, correction, keep);
  if (!variance.requires_grad() || !modes().recording) return sqrt(variance);
  // The slope of sqrt at 0 is infinite, that of the variance 0: the gradient of their product is 0 by convention.
  const Tensor flat = variance == 0.0;
  return where(flat, zeros_like(variance), sqrt(where(flat, ones_like(variance), variance)));
}

}  // namespace weft

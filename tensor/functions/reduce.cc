#include "tensor/functions/reduce.h"

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"
#include "tensor/ops/reduce.h"

namespace weft {
namespace {

template <class Op> Tensor reduce(const char* name, const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame(name, x);
  Op op;
  op.axes = axes.normalized(x.rank());
  op.keepdim = keep.value;
  return dispatch::apply(op, x);
}

}  // namespace

Tensor sum(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Sum>("sum", x, axes, keep); }
Tensor prod(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Prod>("prod", x, axes, keep); }
Tensor sum(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype) {
  ErrorFrame frame("sum", x);
  return cast(sum(cast(x, dtype), axes, keep), dtype);  // i32 is summed in i64
}
Tensor prod(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype) {
  ErrorFrame frame("prod", x);
  return cast(prod(cast(x, dtype), axes, keep), dtype);
}
Tensor mean(const Tensor& x, const Axes& axes, KeepDim keep, DType dtype) {
  ErrorFrame frame("mean", x);
  return mean(cast(x, dtype), axes, keep);
}
Tensor sum_to_size(const Tensor& x, const Shape& shape) {
  ErrorFrame frame("sum_to_size", x);
  const int64_t added = x.rank() - shape.rank();
  IntList axes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t size = i < added ? 1 : shape[static_cast<size_t>(i - added)];
    if (i < added || (size == 1 && x.size(i) != 1))
      axes.push_back(i);
    else if (size != x.size(i))
      throw ShapeError(text("it is no sum to shape ", shape, ", which does not expand to ", x.shape()));
  }
  if (added < 0) throw ShapeError(text("it is no sum to shape ", shape, ", which has more axes"));
  return axes.empty() ? x : reshape(sum(x, axes), shape);
}
Tensor max(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Max>("max", x, axes, keep); }
Tensor min(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Min>("min", x, axes, keep); }
Tensor all(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::All>("all", x, axes, keep); }
Tensor any(const Tensor& x, const Axes& axes, KeepDim keep) { return reduce<op::Any>("any", x, axes, keep); }
Tensor logsumexp(const Tensor& x, const Axes& axes, KeepDim keep) {
  return reduce<op::Logsumexp>("logsumexp", x, axes, keep);
}

Tensor mean(const Tensor& x, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("mean", x);
  dispatch::check_accepted(x.dtype(), kFloating);
  const double count = static_cast<double>(op::reduced_count(x.shape(), axes.normalized(x.rank())));
  // The sum of bf16 or f16 may overflow or lose digits where the mean does not.
  if (is_half_precision(x.dtype())) return cast(div(sum(cast(x, f32), axes, keep), count), x.dtype());
  return div(sum(x, axes, keep), count);
}

Tensor norm(const Tensor& x, double p, const Axes& axes, KeepDim keep) {
  ErrorFrame frame("norm", x);
  return dispatch::apply(op::Norm{p, axes.normalized(x.rank()), keep.value}, x);
}

Tensor var(const Tensor& x, const Axes& axes, int64_t correction, KeepDim keep) {
  ErrorFrame frame("var", x);
  return dispatch::apply(op::Var{axes.normalized(x.rank()), static_cast<double>(correction), keep.value}, x);
}

Tensor stddev(const Tensor& x, const Axes& axes, int64_t correction, KeepDim keep) {
  ErrorFrame frame("std", x);
  // Gradients of 16 bits are computed in f32. (Under Autocast all of it is, and the result stays f32.)
  if (is_half_precision(x.dtype()) && internal::modes().autocast == f32 && dispatch::may_need_gradient(x))
    return cast(stddev(cast(x, f32), axes, correction, keep), x.dtype());
  return dispatch::apply(op::Var{axes.normalized(x.rank()), static_cast<double>(correction), keep.value, true}, x);
}

}  // namespace weft

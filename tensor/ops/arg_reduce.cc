#include "tensor/ops/arg_reduce.h"

#include "tensor/kernels/cpu/reduce/arg_reduce.h"
#include "tensor/op.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

Shape without_axis(const Tensor& x, int64_t axis, bool keepdim) {
  if (x.size(axis) == 0 && x.numel() == 0) throw ShapeError(text("axis ", axis, " has size 0: nothing to choose from"));
  Shape shape = x.shape();
  if (keepdim)
    shape[static_cast<size_t>(axis)] = 1;
  else
    shape.erase(static_cast<size_t>(axis));
  return shape;
}

/// The row-major output with the axis at size 1.
View kept(const Tensor& x, int64_t axis) { return View::contiguous(keepdim_shape(x.shape(), {axis})); }

}  // namespace

namespace op {

std::array<Spec, 2> ExtremumWithIndices::infer(const Tensor& x) const {
  const Shape shape = without_axis(x, axis, keepdim);
  return {spec_of(shape, x.dtype()), spec_of(shape, i64)};
}
void ExtremumWithIndices::run(const Tensor& x, std::array<Tensor, 2>& out) const {
  const View view = kept(x, axis);
  const cpu::Operand values{out[0].raw(), &view, out[0].dtype()}, indices{out[1].raw(), &view, i64};
  (largest ? cpu::max_with_indices : cpu::min_with_indices)(operand(x), axis, values, indices);
}

#define WEFT_ARG_EXTREMUM(Op, function)                                   \
  template <>                                                             \
  Spec ArgExtremum<Op>::infer(const Tensor& x) const {                    \
    return spec_of(without_axis(x, axis, keepdim), i64);                  \
  }                                                                       \
  template <>                                                             \
  void ArgExtremum<Op>::run(const Tensor& x, Tensor& out) const {         \
    const View view = kept(x, axis);                                      \
    cpu::function(operand(x), axis, cpu::Operand{out.raw(), &view, i64}); \
  }
WEFT_ARG_EXTREMUM(Argmax, argmax)
WEFT_ARG_EXTREMUM(Argmin, argmin)
#undef WEFT_ARG_EXTREMUM

}  // namespace op

namespace {

ValuesAndIndices extremum(const char* name, const Tensor& x, int64_t axis, bool largest, KeepDim keep) {
  Frame frame(name, x);
  auto [values, indices] = apply(op::ExtremumWithIndices{normalize_axis(axis, x.rank()), largest, keep.value}, x);
  return {values, indices};
}

template <class Op>
Tensor position(const char* name, const Tensor& x, std::optional<int64_t> axis, KeepDim keep) {
  Frame frame(name, x);
  Op op;
  op.keepdim = keep.value;
  if (axis && x.rank() > 0) {
    op.axis = normalize_axis(*axis, x.rank());
    return apply(op, x);
  }
  op.axis = 0;
  op.keepdim = false;
  const Tensor found = apply(op, reshape(x, {-1}));
  return keep.value ? reshape(found, Shape(static_cast<size_t>(x.rank()), 1)) : found;
}

}  // namespace

ValuesAndIndices max_with_indices(const Tensor& x, int64_t axis, KeepDim keep) {
  return extremum("max_with_indices", x, axis, true, keep);
}
ValuesAndIndices min_with_indices(const Tensor& x, int64_t axis, KeepDim keep) {
  return extremum("min_with_indices", x, axis, false, keep);
}
Tensor argmax(const Tensor& x, std::optional<int64_t> axis, KeepDim keep) {
  return position<op::Argmax>("argmax", x, axis, keep);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, KeepDim keep) {
  return position<op::Argmin>("argmin", x, axis, keep);
}

}  // namespace weft

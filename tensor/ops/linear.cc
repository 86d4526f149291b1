#include "tensor/ops/linear.h"

#include "tensor/kernels/cpu/gemm/linear.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft {
namespace {

void check_shapes(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2) throw ShapeError(text("weight must be (out, in), not ", weight.shape()));
  if (x.rank() == 0) throw ShapeError("x must have at least one axis, its features");
  if (x.size(-1) != weight.size(1))
    throw ShapeError(text("x has ", x.size(-1), " features, weight ", weight.shape(), " takes ", weight.size(1)));
  if (bias.defined() && bias.shape() != Shape{weight.size(0)})
    throw ShapeError(text("bias must have shape [", weight.size(0), "], not ", bias.shape()));
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  Frame frame("linear", x, weight, bias);
  check_shapes(x, weight, bias);
  DType dtype = promote(x.dtype(), weight.dtype());
  if (bias.defined()) dtype = promote(dtype, bias.dtype());
  const Tensor w = cast(weight, dtype), b = bias.defined() ? cast(bias, dtype) : bias;
  if (x.rank() == 2) return apply(op::Linear{}, cast(x, dtype), w, b);
  Shape shape = x.shape();
  int64_t rows = 1;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) rows *= x.size(i);
  shape[shape.size() - 1] = w.size(0);
  return reshape(apply(op::Linear{}, reshape(cast(x, dtype), {rows, x.size(-1)}), w, b), shape);
}

namespace op {

Spec Linear::infer(const Tensor& x, const Tensor& weight, const Tensor&) const {
  check_dtype(x, x.dtype() != boolean, "integers or floating dtypes; cast bool first");
  return spec_of({x.size(0), weight.size(0)}, x.dtype());
}
void Linear::run(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& out) const {
  kernels::cpu::linear(operand(x), operand(weight), OptionalOperand(bias).get(), operand(out));
}

}  // namespace op
}  // namespace weft

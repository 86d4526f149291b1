#include "tensor/functions/linear.h"

#include "tensor/dispatch/apply.h"
#include "tensor/functions/view.h"
#include "tensor/ops/linear.h"

namespace weft {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  ErrorFrame frame("linear", x, weight, bias);
  if (x.rank() == 2) return dispatch::apply(op::Linear{}, x, weight, bias);
  if (x.rank() == 0) throw ShapeError("x must have at least one axis, its features");
  Shape shape = x.shape();
  int64_t rows = 1;
  for (int64_t i = 0; i + 1 < x.rank(); ++i) rows *= x.size(i);
  const Tensor y = dispatch::apply(op::Linear{}, reshape(x, {rows, x.size(-1)}), weight, bias);
  shape[shape.size() - 1] = y.size(1);
  return reshape(y, shape);
}

}  // namespace weft

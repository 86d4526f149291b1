#include "tensor/functions/linear.h"

#include "tensor/adjoints/matmul.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/linear.h"

namespace weft {

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  ErrorFrame frame("linear", x, weight, bias);
  if (x.rank() == 2) return dispatch::apply(op::Linear{}, x, weight, bias);
  if (x.rank() == 0) throw ShapeError("x must have 1 axis or more, the last of them its features");
  return adjoint::with_joined_rows(
      x, [&](const Tensor& rows) { return dispatch::apply(op::Linear{}, rows, weight, bias); });
}

}  // namespace weft

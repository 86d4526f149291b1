#include "tensor/ops/lu.h"

namespace weft::op {

Spec LuSolve::infer(const Operand& a, const Operand& lu, const Operand& pivots, const Operand& b) const {
  check_square(a);
  check_same_shape(a, lu);
  check_dtype(pivots, pivots.dtype == i32, "pivots in i32");
  const int64_t n = a.size(a.rank() - 1);
  if (pivots.shape() != vectors_like(a, n))
    throw ShapeError(text("pivots must have shape ", vectors_like(a, n), ", not ", pivots.shape()));
  if (b.rank() < 2 || b.size(b.rank() - 2) != n || batch_like(b) != batch_like(a))
    throw ShapeError(text("the right side must have ", n, " rows, its shape is ", b.shape()));
  return spec_of(b.shape(), b.dtype);
}

}  // namespace weft::op

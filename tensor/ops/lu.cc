#include "tensor/ops/lu.h"

namespace weft::op {

Spec PivotOrder::infer(const Operand& pivots) const {
  if (pivots.rank() < 1 || pivots.size(pivots.rank() - 1) > rows)
    throw ShapeError(text("it takes up to ", rows, " pivots for ", rows, " rows, not shape ", pivots.shape()));
  Shape shape = pivots.shape();
  shape[shape.size() - 1] = rows;
  return spec_of(shape, i64);
}

Spec LuSolve::infer(const Operand& a, const Operand& lu, const Operand& pivots, const Operand& b) const {
  check_square(a);
  check_same_shape(a, lu);
  check_dtype(pivots, pivots.dtype == i32, "pivots in i32");
  const int64_t n = a.size(a.rank() - 1);
  if (pivots.shape() != vectors_like(a, n))
    throw ShapeError(text("pivots must have shape ", vectors_like(a, n), ", not ", pivots.shape()));
  check_right_side(a, b);
  return spec_of(b.shape(), b.dtype);
}

}  // namespace weft::op

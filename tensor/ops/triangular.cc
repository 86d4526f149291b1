#include "tensor/ops/triangular.h"

namespace weft::op {

Spec SolveTriangular::infer(const Operand& a, const Operand& b) const {
  check_square(a);
  const int64_t n = a.size(a.rank() - 1);
  if (b.rank() < 2 || b.size(b.rank() - 2) != n || batch_like(b) != batch_like(a))
    throw ShapeError(text("the right side must have ", n, " rows, its shape is ", b.shape()));
  return spec_of(b.shape(), b.dtype);
}

}  // namespace weft::op

#include "tensor/ops/triangular.h"

namespace weft::op {

Spec SolveTriangular::infer(const Operand& a, const Operand& b) const {
  check_square(a);
  check_right_side(a, b);
  return spec_of(b.shape(), b.dtype);
}

}  // namespace weft::op

#include "tensor/ops/matmul.h"

namespace weft::op {

Spec RoundedMatmul::infer(const Operand& a, const Operand& b) const {
  for (const Operand& x : {a, b}) {
    if (x.rank() != 2) throw ShapeError(text("each operand must have 2 axes, not shape ", x.shape()));
    check_dtype(x, is_floating(x.dtype), "floating");
  }
  if (a.size(1) != b.size(0)) throw ShapeError(text("inner sizes differ: ", a.size(1), " and ", b.size(0)));
  if (!is_floating(operands) || (result != operands && (result != f32 || operands == f64)))
    throw DtypeError(
        text("a product of ", operands, " gives ", operands, is_floating(operands) ? " or f32" : "", ", not ", result));
  return spec_of({a.size(0), b.size(1)}, result);
}

}  // namespace weft::op

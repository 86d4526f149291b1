#include "tensor/ops/linear.h"

namespace weft::op {

Spec Linear::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  if (weight.rank() != 2) throw ShapeError(text("weight must be (out, in), not ", weight.shape()));
  if (x.size(1) != weight.size(1))
    throw ShapeError(text("x has ", x.size(1), " features, weight ", weight.shape(), " takes ", weight.size(1)));
  if (bias.defined() && bias.shape() != Shape{weight.size(0)})
    throw ShapeError(text("bias must have shape [", weight.size(0), "], not ", bias.shape()));
  for (const Operand& parameter : {weight, bias})
    if (parameter.defined())
      check_dtype(parameter, parameter.dtype == x.dtype || (parameter.dtype == f32 && is_half_precision(x.dtype)),
                  "x's dtype");
  return spec_of({x.size(0), weight.size(0)}, x.dtype);
}

}  // namespace weft::op

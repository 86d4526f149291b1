#include "tensor/ops/cat.h"

namespace weft::op {

Spec Cat::infer(Operands tensors) const {
  const Operand& first = tensors[0];
  Shape shape = first.shape();
  const size_t a = static_cast<size_t>(axis);
  shape[a] = 0;
  for (const Operand& x : tensors) {
    bool fits = x.rank() == first.rank();
    for (size_t i = 0; fits && i < shape.size(); ++i) fits = i == a || x.shape()[i] == first.shape()[i];
    if (!fits) throw ShapeError(text("shapes ", first.shape(), " and ", x.shape(), " differ on more than axis ", axis));
    shape[a] = checked_add(shape[a], x.shape()[a]);
  }
  return spec_in_order_of(first, shape);
}

}  // namespace weft::op

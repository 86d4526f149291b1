#include "tensor/ops/copy.h"

namespace weft::op {

View ViewAdjoint::part_of(const View& whole) const {
  std::optional<View> part = of.view(whole);
  if (!part) throw Error(text("the adjoint of ", of.name(), " needs a view that strides cannot express"));
  return *std::move(part);
}

Spec ViewAdjoint::infer(const Operand& g) const {
  Spec out = spec_of(shape, g.dtype);
  const View part = part_of(out.view);
  if (part.shape() != g.shape())
    throw ShapeError(
        text("the adjoint of ", of.name(), " takes a gradient of shape ", part.shape(), ", not ", g.shape()));
  return out;
}

}  // namespace weft::op

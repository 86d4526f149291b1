#include "tensor/ops/strided_scatter.h"

namespace weft::op {

Spec AsStridedScatter::infer(const Operand& x, const Operand& src) const {
  Spec out = spec_of(x.shape(), x.dtype);
  const View part = part_of(out.view);
  if (src.shape() != shape) throw ShapeError(text("the source has shape ", src.shape(), ", the part ", shape));
  if (part.overlaps_itself())
    throw ShapeError(text("the part of shape ", shape, " with strides ", strides, " overlaps itself"));
  return out;
}

}  // namespace weft::op

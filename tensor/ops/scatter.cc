#include "tensor/ops/scatter.h"

namespace weft::op {

Spec Scatter::infer(const Operand& x, const Operand& index, const Operand& src) const {
  check_elements(x.shape(), axis, index);
  check_same_shape(src, index);
  return spec_like(x);
}

Spec ScatterReduce::infer(const Operand& x, const Operand& index, const Operand& src) const {
  return Scatter{axis}.infer(x, index, src);
}

}  // namespace weft::op

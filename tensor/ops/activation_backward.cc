#include "tensor/ops/activation_backward.h"

namespace weft::op {

Spec ActivationBackward::infer(const Operand& g, const Operand& x) const {
  check_same_shape(g, x);
  return {result_view(g.shape(), {x.view, g.view}), g.dtype};
}

}  // namespace weft::op

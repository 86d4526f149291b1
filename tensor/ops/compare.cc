#include "tensor/ops/compare.h"

namespace weft::op {

Spec Where::infer(const Operand& condition, const Operand& a, const Operand& b) const {
  if (condition.dtype != boolean)
    throw DtypeError(text("the condition is ", condition.dtype, "; it takes bool, e.g. x != 0"));
  return {result_view(a.shape(), {a.view, b.view}), a.dtype};
}

}  // namespace weft::op

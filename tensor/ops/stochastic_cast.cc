#include "tensor/ops/stochastic_cast.h"

namespace weft::op {

Spec StochasticCast::infer(const Operand& x) const {
  if (dtype != bf16 && dtype != f16) throw DtypeError(text("it rounds to bf16 or f16, not to ", dtype, "; use cast()"));
  return spec_like(x, dtype);
}

}  // namespace weft::op

#include "tensor/ops/strided_scatter.h"

#include "tensor/kernels/cpu/pointwise/copy.h"

namespace weft {

void op::AsStridedScatter::cpu(const Operand& x, const Operand& src, const Operand& out) const {
  kernels::cpu::copy(x, out);
  const View part = part_of(out.layout());
  kernels::cpu::copy(src, out.with(part));
}

}  // namespace weft

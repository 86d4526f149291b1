#include "tensor/ops/cat.h"

#include "tensor/kernels/cpu/pointwise/copy.h"

namespace weft {

void op::Cat::cpu(Operands tensors, const Operand& out) const {
  int64_t at = 0;
  for (const Operand& x : tensors) {
    const View part = out.layout().slice(axis, at, at + x.size(axis));
    kernels::cpu::copy(x, out.with(part));
    at += x.size(axis);
  }
}

}  // namespace weft

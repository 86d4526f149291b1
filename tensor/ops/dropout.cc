#include "tensor/ops/dropout.h"

#include "tensor/core/random.h"
#include "tensor/kernels/cpu/pointwise/random.h"
#include "tensor/op.h"

namespace weft {

Tensor dropout(const Tensor& x, double p) {
  Frame frame("dropout", x);
  if (!(p >= 0.0 && p <= 1.0)) throw Error(text("p = ", p, " must lie between 0 and 1"));
  const RandomKey key = next_random_key(x.numel());
  return apply(op::Dropout{p, key.seed, key.offset}, x);
}

namespace op {

Spec Dropout::infer(const Tensor& x) const {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes");
  return spec_like(x);
}
void Dropout::run(const Tensor& x, Tensor& out) const {
  kernels::cpu::dropout(operand(x), RandomKey{seed, offset}, p, operand(out));
}

}  // namespace op
}  // namespace weft

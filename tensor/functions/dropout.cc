#include "tensor/functions/dropout.h"

#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/dropout.h"

namespace weft {

Tensor dropout(const Tensor& x, double p) { return dropout(x, p, default_generator()); }

Tensor dropout(const Tensor& x, double p, Generator& generator) {
  Frame frame("dropout", x);
  if (!(p >= 0.0 && p <= 1.0)) throw Error(text("p = ", p, " must lie between 0 and 1"));
  const RandomKey key = dispatch::key_on(x.device(), x.numel(), generator);
  return dispatch::apply(op::Dropout{p, key.seed, key.offset}, x);
}

}  // namespace weft

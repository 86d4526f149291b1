#include "tensor/functions/dropout.h"

#include "tensor/core/random.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/dropout.h"

namespace weft {

Tensor dropout(const Tensor& x, double p) {
  Frame frame("dropout", x);
  if (!(p >= 0.0 && p <= 1.0)) throw Error(text("p = ", p, " must lie between 0 and 1"));
  const RandomKey key = next_random_key(x.numel());
  return dispatch::apply(op::Dropout{p, key.seed, key.offset}, x);
}

}  // namespace weft

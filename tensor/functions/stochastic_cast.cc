#include "tensor/functions/stochastic_cast.h"

#include "tensor/core/random.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/stochastic_cast.h"

namespace weft {

Tensor stochastic_cast(const Tensor& x, DType dtype) { return stochastic_cast(x, dtype, default_generator()); }

Tensor stochastic_cast(const Tensor& x, DType dtype, Generator& generator) {
  ErrorFrame frame("stochastic_cast", x);
  const RandomKey key = dispatch::key_on(x.device(), x.numel(), generator);
  return dispatch::apply(op::StochasticCast{dtype, key.seed, key.offset}, x);
}

}  // namespace weft

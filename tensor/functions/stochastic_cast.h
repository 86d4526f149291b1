// Stochastic rounding to bf16 and f16.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// Casts `x` (any floating dtype, any shape) to `dtype`, which is bf16 or f16. A value between two representable
/// numbers is rounded up or down at random, with probabilities that make the expected result equal to the value (Gupta
/// et al., ICML 2015). A sum of many small updates therefore is not lost, as it can be when rounding to nearest. Random
/// numbers come from `generator`, by default the process's; the same bits at any thread count. The gradient is that of
/// cast(). DtypeError for other dtypes.
Tensor stochastic_cast(const Tensor& x, DType dtype);
Tensor stochastic_cast(const Tensor& x, DType dtype, Generator& generator);

}  // namespace weft

// Rounding to 16 bits at random.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// `x` (f32, f64, bf16 or f16, any shape) as `dtype`, bf16 or f16: a value between two neighbours becomes one or the
/// other, the nearer more often, so that the mean of many roundings is the value (Gupta et al., ICML 2015). Sums of
/// many small changes survive so where rounding to nearest loses them. Draws from the process's generator or
/// `generator`; the same bits at any number of threads. Its gradient is cast()'s. DtypeError for other dtypes.
Tensor stochastic_cast(const Tensor& x, DType dtype);
Tensor stochastic_cast(const Tensor& x, DType dtype, Generator& generator);

}  // namespace weft

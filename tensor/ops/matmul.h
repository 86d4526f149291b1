// Matrix products.
#pragma once

#include "tensor/apply.h"

namespace weft {

/// (..., M, K) times (..., K, N) gives (..., M, N); leading axes broadcast. A 1-D operand is a row (first) or a column
/// (second) and loses that axis in the result; two of them give their dot product. Dtypes promote; integers multiply
/// exactly. ShapeError `inner sizes differ: 3 and 4`.
Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace weft

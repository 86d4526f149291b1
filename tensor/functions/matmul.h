// Matrix products.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// (..., M, K) times (..., K, N) gives (..., M, N); leading axes broadcast. A 1-D operand is a row (first) or a column
/// (second) and loses that axis in the result; two of them give their dot product. Dtypes promote; integers multiply
/// exactly; DtypeError for bool. ShapeError `inner sizes differ: 3 and 4`.
Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace weft

// Matrix products.
#pragma once

#include "tensor/tensor.h"

namespace weft {

/// The matrix product: (..., M, K) times (..., K, N) gives (..., M, N); leading axes broadcast. A 1-D first operand is
/// a row, a 1-D second operand is a column, and the result does not have the added axis. Two 1-D operands give their
/// dot product. Dtypes promote; integer products are exact; DtypeError for bool. ShapeError
/// `inner sizes differ: 3 and 4`.
Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace weft

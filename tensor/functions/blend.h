// Element-wise combinations of three tensors. Operands broadcast and are promoted as in arithmetic; lerp and
// addcdiv of integers give f32.
#pragma once

#include "tensor/core/scalar.h"
#include "tensor/tensor.h"

namespace weft {

/// start + weight (end - start). Weights 0 and 1 give start and end exactly where both are finite.
Tensor lerp(const Tensor& start, const Tensor& end, double weight);
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);
/// x + value * a * b
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value = 1);
/// x + value * a / b. DtypeError if all tensors are integers.
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, const Scalar& value = 1);

}  // namespace weft

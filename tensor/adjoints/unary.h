// Gradients of activations in one pass; called by rules.
#pragma once

#include "tensor/functions/unary.h"

namespace weft::adjoint {

/// g where y > 0, else 0; y is relu's result. Shapes and dtypes are equal.
Tensor relu_backward(const Tensor& g, const Tensor& y);
/// g times the derivative of silu, or gelu, at x. Shapes and dtypes are equal.
Tensor silu_backward(const Tensor& g, const Tensor& x);
Tensor gelu_backward(const Tensor& g, const Tensor& x, Gelu form);

}  // namespace weft::adjoint

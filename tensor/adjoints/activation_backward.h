// Gradients of element-wise functions in one pass; called by rules. Shapes and dtypes of the two tensors are equal. The
// result is written over g where nothing else holds it.
#pragma once

#include "tensor/functions/unary.h"
#include "tensor/ops/activation_backward.h"

namespace weft::adjoint {

// tensor/ops/activation_backward.inc says of which function, and whether x is its input or its result.
#define WEFT_BACKWARD(Op, function) Tensor function(Tensor g, const Tensor& x);
#include "tensor/ops/activation_backward.inc"
#undef WEFT_BACKWARD

/// g times the derivative of gelu at x.
Tensor gelu_backward(Tensor g, const Tensor& x, Gelu form);
/// The same of elu, selu and celu: the attributes are those of op::Elu.
Tensor elu_backward(Tensor g, const Tensor& x, double alpha, double scale, double input_scale);
/// g times the slope at x; a slope of 0 gives 0.
Tensor piecewise_backward(Tensor g, const Tensor& x, const op::Slopes& slopes);

}  // namespace weft::adjoint

#include "tensor/adjoints/activation_backward.h"

#include "tensor/dispatch/apply.h"

namespace weft::adjoint {

#define WEFT_BACKWARD(Op, function)                  \
  Tensor function(Tensor g, const Tensor& x) {       \
    ErrorFrame frame(#function, g, x);               \
    return dispatch::apply_over(op::Op{}, 1u, g, x); \
  }
#include "tensor/ops/activation_backward.inc"
#undef WEFT_BACKWARD

Tensor gelu_backward(Tensor g, const Tensor& x, Gelu form) {
  ErrorFrame frame("gelu_backward", g, x);
  return dispatch::apply_over(op::GeluBackward{{}, form == Gelu::tanh}, 1u, g, x);
}

Tensor elu_backward(Tensor g, const Tensor& x, double alpha, double scale, double input_scale) {
  ErrorFrame frame("elu_backward", g, x);
  return dispatch::apply_over(op::EluBackward{{}, alpha, scale, input_scale}, 1u, g, x);
}

Tensor piecewise_backward(Tensor g, const Tensor& x, const op::Slopes& slopes) {
  ErrorFrame frame("piecewise_backward", g, x);
  return dispatch::apply_over(op::PiecewiseBackward{{}, slopes}, 1u, g, x);
}

}  // namespace weft::adjoint

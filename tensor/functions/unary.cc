#include "tensor/functions/unary.h"

#include "tensor/adjoints/unary.h"
#include "tensor/dispatch/over.h"
#include "tensor/functions/copy.h"
#include "tensor/ops/unary.h"

namespace weft {

#define WEFT_UNARY(Op, function, policy)                                                                \
  Tensor function(const Tensor& x) {                                                                    \
    Frame frame(#function, x);                                                                          \
    return dispatch::apply(op::Op{}, x);                                                                \
  }                                                                                                     \
  Tensor function(Tensor&& x) {                                                                         \
    Frame frame(#function, x);                                                                          \
    return dispatch::over(x, [&](uint32_t dying) { return dispatch::apply_over(op::Op{}, dying, x); }); \
  }
#include "tensor/ops/unary.inc"
#undef WEFT_UNARY

Tensor leaky_relu(const Tensor& x, double slope) {
  Frame frame("leaky_relu", x);
  return dispatch::apply(op::LeakyRelu{slope}, x);
}

Tensor gelu(const Tensor& x, Gelu form) {
  Frame frame("gelu", x);
  return dispatch::apply(op::GeluOp{form == Gelu::tanh}, x);
}

Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max) {
  Frame frame("clip", x);
  if (min && max && min->to_double() > max->to_double())
    throw Error(text("min ", min->to_double(), " is above max ", max->to_double()));
  DType dtype = x.dtype();
  if (min) dtype = promote_scalar(dtype, *min);
  if (max) dtype = promote_scalar(dtype, *max);
  return dispatch::apply(op::Clip{min, max}, cast(x, dtype));
}

namespace adjoint {

Tensor relu_backward(const Tensor& g, const Tensor& y) {
  Frame frame("relu_backward", g, y);
  return dispatch::apply(op::ReluBackward{}, g, y);
}

Tensor gelu_backward(const Tensor& g, const Tensor& x, Gelu form) {
  Frame frame("gelu_backward", g, x);
  return dispatch::apply(op::GeluBackward{form == Gelu::tanh}, g, x);
}

}  // namespace adjoint
}  // namespace weft

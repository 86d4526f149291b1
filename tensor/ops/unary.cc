#include "tensor/ops/unary.h"

#include "tensor/kernels/cpu/pointwise/unary.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace op {
namespace {
Spec like_numbers(const Tensor& x) {
  check_dtype(x, x.dtype() != boolean, "integers or floating dtypes; cast bool first");
  return spec_like(x);
}
Spec gradient_like(const Tensor& g, const Tensor& x) {
  check_same_shape(g, x);
  if (g.dtype() != x.dtype()) throw DtypeError(text("dtypes differ: ", g.dtype(), " and ", x.dtype()));
  check_dtype(g, is_floating(g.dtype()), "floating dtypes");
  return {result_view(g.shape(), {&x, &g}), g.dtype()};
}
}  // namespace

template <class Self>
Spec Unary<Self>::infer(const Tensor& x) const {
  return like_numbers(x);
}

#define WEFT_UNARY(Op, function)                            \
  template <>                                               \
  void Unary<Op>::run(const Tensor& x, Tensor& out) const { \
    cpu::function(operand(x), operand(out));                \
  }                                                         \
  template Spec Unary<Op>::infer(const Tensor& x) const;
WEFT_UNARY(Neg, neg)
WEFT_UNARY(Abs, abs)
WEFT_UNARY(Sign, sign)
WEFT_UNARY(Square, square)
WEFT_UNARY(Sqrt, sqrt)
WEFT_UNARY(Rsqrt, rsqrt)
WEFT_UNARY(Reciprocal, reciprocal)
WEFT_UNARY(Exp, exp)
WEFT_UNARY(Log, log)
WEFT_UNARY(Log1p, log1p)
WEFT_UNARY(Sin, sin)
WEFT_UNARY(Cos, cos)
WEFT_UNARY(Tanh, tanh)
WEFT_UNARY(Sigmoid, sigmoid)
WEFT_UNARY(Relu, relu)
WEFT_UNARY(Silu, silu)
WEFT_UNARY(Softplus, softplus)
WEFT_UNARY(Erf, erf)
#undef WEFT_UNARY

Spec LeakyRelu::infer(const Tensor& x) const { return like_numbers(x); }
void LeakyRelu::run(const Tensor& x, Tensor& out) const { cpu::leaky_relu(operand(x), slope, operand(out)); }

Spec GeluOp::infer(const Tensor& x) const { return like_numbers(x); }
void GeluOp::run(const Tensor& x, Tensor& out) const { cpu::gelu(operand(x), tanh_form, operand(out)); }

Spec GeluBackward::infer(const Tensor& g, const Tensor& x) const { return gradient_like(g, x); }
void GeluBackward::run(const Tensor& g, const Tensor& x, Tensor& out) const {
  cpu::gelu_backward(operand(g), operand(x), tanh_form, operand(out));
}

Spec ReluBackward::infer(const Tensor& g, const Tensor& y) const { return gradient_like(g, y); }
void ReluBackward::run(const Tensor& g, const Tensor& y, Tensor& out) const {
  cpu::relu_backward(operand(g), operand(y), operand(out));
}

Spec Clip::infer(const Tensor& x) const { return like_numbers(x); }
void Clip::run(const Tensor& x, Tensor& out) const { cpu::clip(operand(x), min, max, operand(out)); }

}  // namespace op

namespace {

template <class Op>
Tensor keeping(const char* name, const Tensor& x) {
  Frame frame(name, x);
  return apply(Op{}, x);
}

/// Integers and bool go to f32 first.
Tensor floating(const Tensor& x) { return is_floating(x.dtype()) ? x : cast(x, f32); }

template <class Op>
Tensor to_floating(const char* name, const Tensor& x) {
  Frame frame(name, x);
  return apply(Op{}, floating(x));
}

}  // namespace

Tensor neg(const Tensor& x) { return keeping<op::Neg>("neg", x); }
Tensor abs(const Tensor& x) { return keeping<op::Abs>("abs", x); }
Tensor sign(const Tensor& x) { return keeping<op::Sign>("sign", x); }
Tensor square(const Tensor& x) { return keeping<op::Square>("square", x); }
Tensor relu(const Tensor& x) { return keeping<op::Relu>("relu", x); }
Tensor sqrt(const Tensor& x) { return to_floating<op::Sqrt>("sqrt", x); }
Tensor rsqrt(const Tensor& x) { return to_floating<op::Rsqrt>("rsqrt", x); }
Tensor reciprocal(const Tensor& x) { return to_floating<op::Reciprocal>("reciprocal", x); }
Tensor exp(const Tensor& x) { return to_floating<op::Exp>("exp", x); }
Tensor log(const Tensor& x) { return to_floating<op::Log>("log", x); }
Tensor log1p(const Tensor& x) { return to_floating<op::Log1p>("log1p", x); }
Tensor sin(const Tensor& x) { return to_floating<op::Sin>("sin", x); }
Tensor cos(const Tensor& x) { return to_floating<op::Cos>("cos", x); }
Tensor tanh(const Tensor& x) { return to_floating<op::Tanh>("tanh", x); }
Tensor sigmoid(const Tensor& x) { return to_floating<op::Sigmoid>("sigmoid", x); }
Tensor silu(const Tensor& x) { return to_floating<op::Silu>("silu", x); }
Tensor softplus(const Tensor& x) { return to_floating<op::Softplus>("softplus", x); }
Tensor erf(const Tensor& x) { return to_floating<op::Erf>("erf", x); }

Tensor leaky_relu(const Tensor& x, double slope) {
  Frame frame("leaky_relu", x);
  return apply(op::LeakyRelu{slope}, floating(x));
}

Tensor gelu(const Tensor& x, Gelu form) {
  Frame frame("gelu", x);
  return apply(op::GeluOp{form == Gelu::tanh}, floating(x));
}

Tensor clip(const Tensor& x, std::optional<Scalar> min, std::optional<Scalar> max) {
  Frame frame("clip", x);
  if (min && max && min->to_double() > max->to_double())
    throw Error(text("min ", min->to_double(), " is above max ", max->to_double()));
  DType dtype = x.dtype();
  if (min) dtype = promote_scalar(dtype, *min);
  if (max) dtype = promote_scalar(dtype, *max);
  return apply(op::Clip{min, max}, cast(x, dtype));
}

Tensor relu_backward(const Tensor& g, const Tensor& y) {
  Frame frame("relu_backward", g, y);
  return apply(op::ReluBackward{}, g, y);
}

Tensor gelu_backward(const Tensor& g, const Tensor& x, Gelu form) {
  Frame frame("gelu_backward", g, x);
  return apply(op::GeluBackward{form == Gelu::tanh}, g, x);
}

}  // namespace weft

#include "tensor/ops/softmax.h"

#include "tensor/kernels/cpu/rowwise/softmax.h"
#include "tensor/op.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

template <class Op>
Tensor along(const char* name, const Tensor& x, int64_t axis) {
  Frame frame(name, x);
  if (x.rank() == 0) {
    (void)normalize_axis(axis, 1);
    return reshape(apply(Op{0}, reshape(x, {1})), {});
  }
  return apply(Op{normalize_axis(axis, x.rank())}, x);
}

Spec checked(const Tensor& x) {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes; cast first, e.g. x.to(f32)");
  return spec_like(x);
}

Spec checked(const Tensor& g, const Tensor& y) {
  check_same_shape(g, y);
  if (g.dtype() != y.dtype()) throw DtypeError(text("dtypes differ: ", g.dtype(), " and ", y.dtype()));
  return checked(y);
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) { return along<op::Softmax>("softmax", x, axis); }
Tensor log_softmax(const Tensor& x, int64_t axis) { return along<op::LogSoftmax>("log_softmax", x, axis); }

Tensor softmax_backward(const Tensor& g, const Tensor& y, int64_t axis) {
  Frame frame("softmax_backward", g, y);
  return apply(op::SoftmaxBackward{normalize_axis(axis, y.rank())}, g, y);
}
Tensor log_softmax_backward(const Tensor& g, const Tensor& y, int64_t axis) {
  Frame frame("log_softmax_backward", g, y);
  return apply(op::LogSoftmaxBackward{normalize_axis(axis, y.rank())}, g, y);
}

namespace op {

Spec Softmax::infer(const Tensor& x) const { return checked(x); }
void Softmax::run(const Tensor& x, Tensor& out) const { cpu::softmax(operand(x), axis, operand(out)); }

Spec LogSoftmax::infer(const Tensor& x) const { return checked(x); }
void LogSoftmax::run(const Tensor& x, Tensor& out) const { cpu::log_softmax(operand(x), axis, operand(out)); }

Spec SoftmaxBackward::infer(const Tensor& g, const Tensor& y) const { return checked(g, y); }
void SoftmaxBackward::run(const Tensor& g, const Tensor& y, Tensor& out) const {
  cpu::softmax_backward(operand(g), operand(y), axis, operand(out));
}

Spec LogSoftmaxBackward::infer(const Tensor& g, const Tensor& y) const { return checked(g, y); }
void LogSoftmaxBackward::run(const Tensor& g, const Tensor& y, Tensor& out) const {
  cpu::log_softmax_backward(operand(g), operand(y), axis, operand(out));
}

}  // namespace op
}  // namespace weft

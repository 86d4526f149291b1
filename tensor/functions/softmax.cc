#include "tensor/functions/softmax.h"

#include "tensor/adjoints/softmax.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/view.h"
#include "tensor/ops/softmax.h"

namespace weft {
namespace {

template <class Op> Tensor along(const char* name, const Tensor& x, int64_t axis) {
  ErrorFrame frame(name, x);
  if (x.rank() > 0) return dispatch::apply(Op{normalize_axis(axis, x.rank())}, x);
  (void)normalize_axis(axis, 1);
  return reshape(dispatch::apply(Op{0}, reshape(x, {1})), {});
}

template <class Op> Tensor backward_along(const Tensor& g, const Tensor& y, int64_t axis) {
  ErrorFrame frame(Op::name.data(), g, y);
  return dispatch::apply(Op{normalize_axis(axis, y.rank())}, g, y);
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t axis) { return along<op::Softmax>("softmax", x, axis); }
Tensor log_softmax(const Tensor& x, int64_t axis) { return along<op::LogSoftmax>("log_softmax", x, axis); }

Tensor softmax(const Tensor& x, int64_t axis, DType dtype) {
  ErrorFrame frame("softmax", x);
  return softmax(cast(x, dtype), axis);
}
Tensor log_softmax(const Tensor& x, int64_t axis, DType dtype) {
  ErrorFrame frame("log_softmax", x);
  return log_softmax(cast(x, dtype), axis);
}

Tensor adjoint::softmax_backward(const Tensor& g, const Tensor& y, int64_t axis) {
  return backward_along<op::SoftmaxBackward>(g, y, axis);
}
Tensor adjoint::log_softmax_backward(const Tensor& g, const Tensor& y, int64_t axis) {
  return backward_along<op::LogSoftmaxBackward>(g, y, axis);
}

}  // namespace weft

#include "tensor/functions/recurrent.h"

#include "tensor/adjoints/recurrent.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/ops/recurrent.h"

namespace weft {

RecurrentResult recurrent(Recurrence kind, const Tensor& projected, const Tensor& weight,
                          const RecurrentOptions& options) {
  ErrorFrame frame("recurrent", projected, weight);
  // What only backward reads is as large as all gates of all steps.
  bool keeps = false;
  for (const Tensor* x : {&projected, &weight, &options.bias, &options.h, &options.c})
    keeps = keeps || (x->defined() && dispatch::may_need_gradient(*x));
  const auto [y, h, c, gates, cells] = dispatch::apply(op::Recurrent{{kind, options.reverse}, keeps}, projected, weight,
                                                       options.bias, options.h, options.c, options.lengths);
  return {y, h, kind == Recurrence::lstm ? c : Tensor()};
}

std::array<Tensor, 5> adjoint::recurrent_backward(const op::RecurrentBackward& op, const Tensor& gy, const Tensor& gh,
                                                  const Tensor& gc, const RecurrentInputs& in) {
  ErrorFrame frame("recurrent_backward", gy, in.projected, in.weight);
  return dispatch::apply(op, gy, gh, gc, in.projected, in.weight, in.bias, in.h0, in.c0, in.lengths, in.y, in.gates,
                         in.cells);
}

}  // namespace weft

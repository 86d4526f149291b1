#include "tensor/functions/group_norm.h"

#include "tensor/adjoints/group_norm.h"
#include "tensor/adjoints/norm_operands.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/group_norm.h"

namespace weft {

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("group_norm", x, weight, bias);
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  return dispatch::apply(op::GroupNorm{groups, eps}, in, w, b)[0];
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("instance_norm", x, weight, bias);
  if (x.rank() < 3) throw ShapeError(text("x must be (N, C, L) or (N, C, ...), not ", x.shape()));
  if (x.numel() > 0 && x.numel() == x.size(0) * x.size(1))
    throw ShapeError("each channel of an image has one value, which has no variance");
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  return dispatch::apply(op::GroupNorm{std::max<int64_t>(x.size(1), 1), eps}, in, w, b)[0];
}

Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options) {
  ErrorFrame frame("local_response_norm", x);
  if (x.rank() < 2) throw ShapeError(text("x must be (N, C) or (N, C, ...), not ", x.shape()));
  if (options.size < 1) throw Error(text("size must be 1 or more, not ", options.size));
  if (!is_floating(x.dtype())) throw DtypeError(text("x must be floating, not ", x.dtype()));
  std::vector<Padding> around(static_cast<size_t>(x.rank()), Padding{0, 0});
  around[1] = {options.size / 2, (options.size - 1) / 2};
  const Tensor windows = unfold(pad(square(x), around), 1, options.size, 1);
  return x / pow(mean(windows, -1) * options.alpha + options.k, options.beta);
}

std::array<Tensor, 3> adjoint::group_norm_backward(const Tensor& g, const Tensor& x, int64_t groups,
                                                   const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                   double eps, int wanted) {
  ErrorFrame frame("group_norm_backward", g, x, weight);
  return dispatch::apply(op::GroupNormBackward{groups, eps, wanted}, g, x, weight, mean, rstd);
}

}  // namespace weft

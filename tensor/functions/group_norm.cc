#include "tensor/functions/group_norm.h"

#include "tensor/adjoints/batch_norm.h"
#include "tensor/adjoints/group_norm.h"
#include "tensor/adjoints/norm_operands.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/batch_norm.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/batch_norm.h"
#include "tensor/ops/group_norm.h"

namespace weft {

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("group_norm", x, weight, bias);
  if (x.rank() >= 2 && x.size(0) == 1 && x.numel() > 0 && x.numel() == groups)
    throw ShapeError("each group has one value, which has no variance");
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  return dispatch::apply(op::GroupNorm{groups, eps}, in, w, b)[0];
}

Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, const InstanceNormFunctionOptions& options) {
  ErrorFrame frame("instance_norm", x, running_mean, running_var, weight);
  if (x.rank() < 3) throw ShapeError(text("x must be (N, C, L) or (N, C, ...), not ", x.shape()));
  if (!options.use_input_stats && (!running_mean.defined() || !running_var.defined()))
    throw Error("it takes running_mean and running_var where use_input_stats is false");
  if (!options.use_input_stats) {
    const auto [in, m, v, w, b] = internal::norm_operands<5>({x, running_mean, running_var, weight, bias}, 3, 4);
    return dispatch::apply(op::BatchNormInference{options.eps}, in, m, v, w, b);
  }
  const int64_t images = x.size(0), channels = x.size(1);
  if (x.numel() > 0 && x.numel() == images * channels)
    throw ShapeError("each channel of an image has one value, which has no variance");
  const Operand running[] = {operand(running_mean), operand(running_var)};
  op::check_channels(required_operand(x), {&running[0], &running[1]});
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  auto [y, mean_of_each, rstd] = dispatch::apply(op::GroupNorm{std::max<int64_t>(channels, 1), options.eps}, in, w, b);
  if (x.numel() > 0 && (running_mean.defined() || running_var.defined())) {
    const int64_t pixels = x.numel() / (images * channels);
    Tensor variance;
    if (running_var.defined()) {
      const Tensor seen = cast(x.detach(), mean_of_each.dtype()).reshape({images, channels, pixels});
      variance = mean(var(seen, {2}, 0), 0);
    }
    adjoint::update_running(running_mean, running_var, mean(mean_of_each.detach(), 0), variance, pixels,
                            options.momentum);
  }
  return std::move(y);
}

Tensor local_response_norm(const Tensor& x, const LocalResponseNormOptions& options) {
  ErrorFrame frame("local_response_norm", x);
  if (x.rank() < 2) throw ShapeError(text("x must be (N, C) or (N, C, ...), not ", x.shape()));
  if (options.size < 1) throw Error(text("size must be 1 or more, not ", options.size));
  if (!is_floating(x.dtype())) throw DtypeError(text("x must be floating, not ", x.dtype()));
  if (x.numel() == 0) return clone(x);  // there may be no channel to take a window of
  // f16 does not hold squares of more than 255. (Under Autocast the result stays f32.)
  if (is_half_precision(x.dtype())) {
    const Tensor y = local_response_norm(cast(x, f32), options);
    return internal::modes().autocast == f32 ? cast(y, x.dtype()) : y;
  }
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

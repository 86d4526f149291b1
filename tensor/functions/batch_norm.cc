#include "tensor/functions/batch_norm.h"

#include "tensor/adjoints/batch_norm.h"
#include "tensor/adjoints/norm_operands.h"
#include "tensor/dispatch/in_place.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/batch_norm.h"

namespace weft {
namespace {

BatchNormResult normalized(const op::BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  auto [y, mean, rstd, var] = dispatch::apply(op, in, w, b);
  return {y, mean.detach(), rstd.detach(), var.detach()};
}

Tensor by_statistics(const op::BatchNormInference& op, const Tensor& x, const Tensor& mean, const Tensor& var,
                     const Tensor& weight, const Tensor& bias) {
  if (!(op.eps >= 0)) throw Error(text("eps must be 0 or more, not ", op.eps));
  const auto [in, m, v, w, b] = internal::norm_operands<5>({x, mean, var, weight, bias}, 3, 4);
  return dispatch::apply(op, in, m, v, w, b);
}

}  // namespace

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormFunctionOptions& options) {
  ErrorFrame frame("batch_norm", x, running_mean, running_var, weight);
  if (!options.training) {
    if (!running_mean.defined() || !running_var.defined())
      throw Error("it takes running_mean and running_var unless training is true");
    return by_statistics({options.eps}, x, running_mean, running_var, weight, bias);
  }
  const Operand mean = operand(running_mean), var = operand(running_var);
  op::check_channels(required_operand(x), {&mean, &var});
  BatchNormResult result = normalized({options.eps, false}, x, weight, bias);
  if (x.numel() > 0 && (running_mean.defined() || running_var.defined()))
    adjoint::update_running(running_mean, running_var, result.mean, result.var, x.numel() / x.size(1),
                            options.momentum);
  return std::move(result.y);
}

Tensor batch_norm_inference_relu(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                                 const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("batch_norm_inference_relu", x, running_mean, running_var, weight);
  return by_statistics({eps, true}, x, running_mean, running_var, weight, bias);
}

BatchNormResult batch_norm_with_statistics(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("batch_norm_with_statistics", x, weight, bias);
  return normalized({eps, false}, x, weight, bias);
}

BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("batch_norm_relu", x, weight, bias);
  return normalized({eps, true}, x, weight, bias);
}

std::array<Tensor, 3> adjoint::batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight,
                                                   const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                                                   double eps, bool relu, int wanted) {
  ErrorFrame frame("batch_norm_backward", g, x, weight);
  return dispatch::apply(op::BatchNormBackward{eps, relu, wanted}, g, x, weight, bias, mean, rstd);
}

void adjoint::update_running(Tensor running_mean, Tensor running_var, const Tensor& mean, const Tensor& var,
                             int64_t count, double momentum) {
  const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
  const auto part = [](const Tensor& running, const Tensor& of_batch, double factor) {
    if (!running.defined()) return Tensor();
    (void)dispatch::check_writable(running, "the update of running statistics", false);
    return dispatch::on_device_of(running, of_batch * factor);
  };
  // All that may throw comes before anything is written.
  const Tensor to_mean = part(running_mean, mean, momentum), to_var = part(running_var, var, momentum * unbiased);
  if (running_mean.defined()) running_mean.mul_(1 - momentum).add_(to_mean);
  if (running_var.defined()) running_var.mul_(1 - momentum).add_(to_var);
}

}  // namespace weft

#include "tensor/functions/batch_norm_pool.h"

#include "tensor/adjoints/batch_norm_pool.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/pool.h"
#include "tensor/ops/batch_norm_pool.h"

namespace weft {
namespace {

/// x as the op reads it: what is saved for backward may come back in another memory order.
Tensor channels_last(const Tensor& x) {
  if (!x.layout().has_mask() && (x.size(1) == 1 || x.stride(1) == 1)) return x;
  return x.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2});
}

}  // namespace

BatchNormResult batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                           const Pool2dOptions& options, double eps) {
  ErrorFrame frame("batch_norm_relu_max_pool2d", x, weight, bias);
  if (x.rank() != 4) throw ShapeError(text("x must be (N, C, H, W), not ", x.shape()));
  // Only an x in 16 bits may have parameters of another dtype, both of the same. Elsewhere they promote, and a cast of
  // x may lose the layout that the op asks for.
  const bool half = is_half_precision(x.dtype());
  const DType expected = half && weight.defined() ? weight.dtype() : x.dtype();
  const auto fits = [&](const Tensor& t) { return !t.defined() || t.dtype() == expected; };
  if (!fits(weight) || !fits(bias) || !batch_norm_pool_applies(operand(x), options)) {
    BatchNormResult result = batch_norm_relu(x, weight, bias, eps);
    result.y = max_pool2d(result.y, options);
    return result;
  }
  auto [y, mean, rstd, indices, var] = dispatch::apply(op::BatchNormReluMaxPool2d{eps, options}, x, weight, bias);
  return {y, mean.detach(), rstd.detach(), var.detach()};
}

std::array<Tensor, 3> adjoint::batch_norm_relu_max_pool2d_backward(const Tensor& g, const Tensor& indices,
                                                                   const Tensor& x, const Tensor& weight,
                                                                   const Tensor& mean, const Tensor& rstd,
                                                                   const Pool2dOptions& options, double eps) {
  ErrorFrame frame("batch_norm_relu_max_pool2d_backward", g, x, weight);
  return dispatch::apply(op::BatchNormReluMaxPool2dBackward{eps, options}, g, channels_last(indices), channels_last(x),
                         weight, mean, rstd);
}

}  // namespace weft

#include "tensor/ops/batch_norm_pool.h"

#include "tensor/kernels/cpu/window/batch_norm_pool.h"
#include "tensor/kernels/cpu/window/conv.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/pool_params.h"

namespace weft {
namespace cpu = kernels::cpu;

BatchNormResult batch_norm_relu_max_pool2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                           const Pool2dOptions& options, double eps) {
  Frame frame("batch_norm_relu_max_pool2d", x, weight, bias);
  if (!cpu::batch_norm_pool_applies(operand(x), params_of(options))) {
    BatchNormResult result = batch_norm_relu(x, weight, bias, eps);
    result.y = max_pool2d(result.y, options);
    return result;
  }
  auto [y, mean, rstd, places] = apply(op::BatchNormReluMaxPool2d{eps, options}, x, weight, bias);
  return {y, mean.detach(), rstd.detach()};
}

std::array<Tensor, 3> batch_norm_relu_max_pool2d_backward(const Tensor& g, const Tensor& places, const Tensor& x,
                                                          const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                          const Pool2dOptions& options, double eps) {
  Frame frame("batch_norm_relu_max_pool2d_backward", g, x, weight);
  return apply(op::BatchNormReluMaxPool2dBackward{eps, options}, g, places, x, weight, mean, rstd);
}

namespace op {
namespace {

/// The result's layout; the public function has checked that the kernel takes x.
View pooled(const Tensor& x, const Pool2dOptions& options) {
  const Shape shape{x.size(0), x.size(1), x.size(2) / options.kernel_size.height,
                    x.size(3) / options.kernel_size.width};
  return View::create(shape, cpu::channels_last_strides(shape));
}

}  // namespace

std::array<Spec, 4> BatchNormReluMaxPool2d::infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
  const Spec channels = spec_of(weft::detail::check_batch(x, {&weight, &bias}), x.dtype());
  const View view = pooled(x, options);
  return {Spec{view, x.dtype()}, channels, channels, Spec{view, u8}};
}
void BatchNormReluMaxPool2d::run(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 std::array<Tensor, 4>& out) const {
  cpu::batch_norm_relu_max_pool2d(operand(x), OptionalOperand(weight).get(), OptionalOperand(bias).get(), eps,
                                  params_of(options), operand(out[0]), operand(out[1]), operand(out[2]),
                                  operand(out[3]));
}

std::array<Spec, 3> BatchNormReluMaxPool2dBackward::infer(const Tensor& g, const Tensor& places, const Tensor& x,
                                                          const Tensor& weight, const Tensor& mean,
                                                          const Tensor& rstd) const {
  check_same_shape(g, places);
  const Spec channels = spec_of(weft::detail::check_channels(x, {&weight, &mean, &rstd}), x.dtype());
  return {Spec{View::create(x.shape(), cpu::channels_last_strides(x.shape())), x.dtype()}, channels, channels};
}
void BatchNormReluMaxPool2dBackward::run(const Tensor& g, const Tensor& places, const Tensor& x, const Tensor& weight,
                                         const Tensor& mean, const Tensor& rstd, std::array<Tensor, 3>& out) const {
  cpu::batch_norm_relu_max_pool2d_backward(operand(g), operand(places), operand(x), OptionalOperand(weight).get(),
                                           operand(mean), operand(rstd), params_of(options), operand(out[0]),
                                           operand(out[1]), operand(out[2]));
}

}  // namespace op
}  // namespace weft

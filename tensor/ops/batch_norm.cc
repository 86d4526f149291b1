#include "tensor/ops/batch_norm.h"

#include "tensor/kernels/cpu/rowwise/batch_norm.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/unary.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {
cpu::Activation activation_of(bool relu) { return relu ? cpu::Activation::relu : cpu::Activation::none; }

BatchNormResult normalised(const op::BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  auto [y, mean, rstd] = apply(op, x, weight, bias);
  return {y, mean.detach(), rstd.detach()};
}
}  // namespace

BatchNormResult batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  Frame frame("batch_norm", x, weight, bias);
  return normalised({eps, false}, x, weight, bias);
}

BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  Frame frame("batch_norm_relu", x, weight, bias);
  // The gradient computes y again from the saved statistics, which 16 bits round too coarsely.
  const bool one_pass = x.dtype() == f32 || x.dtype() == f64;
  BatchNormResult result = normalised({eps, one_pass}, x, weight, bias);
  if (!one_pass) result.y = relu(result.y);
  return result;
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                            const Tensor& bias, double eps) {
  Frame frame("batch_norm", x, mean, var);
  return apply(op::BatchNormInference{eps}, x, mean, var, weight, bias);
}

std::array<Tensor, 3> batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                          const Tensor& mean, const Tensor& rstd, double eps, bool relu, int wanted) {
  Frame frame("batch_norm_backward", g, x, weight);
  return apply(op::BatchNormBackward{eps, relu, wanted}, g, x, weight, bias, mean, rstd);
}

namespace detail {

Shape check_channels(const Tensor& x, std::initializer_list<const Tensor*> per_channel) {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes");
  if (x.rank() < 2) throw ShapeError(text("x must be (N, C) or (N, C, ...), not ", x.shape()));
  const Shape channels{x.size(1)};
  for (const Tensor* t : per_channel)
    if (t->defined() && (t->shape() != channels || t->dtype() != x.dtype()))
      throw ShapeError(text("per-channel tensors must be ", channels, " ", x.dtype(), ", not ", describe(*t)));
  return channels;
}

Shape check_batch(const Tensor& x, std::initializer_list<const Tensor*> per_channel) {
  const Shape channels = check_channels(x, per_channel);
  if (x.numel() > 0 && x.numel() == x.size(1))
    throw ShapeError("each channel has one value, which has no variance; use eval() or a larger batch");
  return channels;
}

}  // namespace detail

namespace op {

using weft::detail::check_batch;
using weft::detail::check_channels;

std::array<Spec, 3> BatchNorm::infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
  const Spec channels = spec_of(check_batch(x, {&weight, &bias}), x.dtype());
  return {spec_like(x), channels, channels};
}
void BatchNorm::run(const Tensor& x, const Tensor& weight, const Tensor& bias, std::array<Tensor, 3>& out) const {
  cpu::batch_norm(operand(x), OptionalOperand(weight).get(), OptionalOperand(bias).get(), eps, activation_of(relu),
                  operand(out[0]), operand(out[1]), operand(out[2]));
}

std::array<Spec, 3> BatchNormBackward::infer(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                                             const Tensor& mean, const Tensor& rstd) const {
  check_same_shape(g, x);
  const Spec channels = spec_of(check_channels(x, {&weight, &bias, &mean, &rstd}), x.dtype());
  const Spec none = spec_of({0}, x.dtype());
  return {wanted & 1 ? spec_like(x) : none, wanted & 2 ? channels : none, wanted & 4 ? channels : none};
}
void BatchNormBackward::run(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& bias,
                            const Tensor& mean, const Tensor& rstd, std::array<Tensor, 3>& out) const {
  const OptionalOperand dx(wanted & 1 ? out[0] : Tensor()), dw(wanted & 2 ? out[1] : Tensor()),
      db(wanted & 4 ? out[2] : Tensor());
  cpu::batch_norm_backward(operand(g), operand(x), OptionalOperand(weight).get(), OptionalOperand(bias).get(),
                           operand(mean), operand(rstd), activation_of(relu), cpu::Statistics::of_batch, dx.get(),
                           dw.get(), db.get());
}

Spec BatchNormInference::infer(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                               const Tensor& bias) const {
  check_channels(x, {&mean, &var, &weight, &bias});
  return spec_like(x);
}
void BatchNormInference::run(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                             const Tensor& bias, Tensor& out) const {
  cpu::batch_norm_inference(operand(x), operand(mean), operand(var), OptionalOperand(weight).get(),
                            OptionalOperand(bias).get(), eps, operand(out));
}

}  // namespace op
}  // namespace weft

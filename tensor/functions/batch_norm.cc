#include "tensor/functions/batch_norm.h"

#include "tensor/adjoints/batch_norm.h"
#include "tensor/adjoints/norm_operands.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/batch_norm.h"

namespace weft {
namespace {

BatchNormResult normalised(const op::BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  auto [y, mean, rstd] = dispatch::apply(op, in, w, b);
  return {y, mean.detach(), rstd.detach()};
}

}  // namespace

BatchNormResult batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("batch_norm", x, weight, bias);
  return normalised({eps, false}, x, weight, bias);
}

BatchNormResult batch_norm_relu(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("batch_norm_relu", x, weight, bias);
  return normalised({eps, true}, x, weight, bias);
}

Tensor batch_norm_inference(const Tensor& x, const Tensor& mean, const Tensor& var, const Tensor& weight,
                            const Tensor& bias, double eps) {
  ErrorFrame frame("batch_norm", x, mean, var);
  const auto [in, m, v, w, b] = internal::norm_operands<5>({x, mean, var, weight, bias}, 3, 4);
  return dispatch::apply(op::BatchNormInference{eps}, in, m, v, w, b);
}

std::array<Tensor, 3> adjoint::batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight,
                                                   const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                                                   double eps, bool relu, int wanted) {
  ErrorFrame frame("batch_norm_backward", g, x, weight);
  return dispatch::apply(op::BatchNormBackward{eps, relu, wanted}, g, x, weight, bias, mean, rstd);
}

}  // namespace weft

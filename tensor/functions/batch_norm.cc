#include "tensor/functions/batch_norm.h"

#include "tensor/adjoints/batch_norm.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/unary.h"
#include "tensor/ops/batch_norm.h"

namespace weft {
namespace {

BatchNormResult normalised(const op::BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  auto [y, mean, rstd] = dispatch::apply(op, x, weight, bias);
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
  return dispatch::apply(op::BatchNormInference{eps}, x, mean, var, weight, bias);
}

std::array<Tensor, 3> adjoint::batch_norm_backward(const Tensor& g, const Tensor& x, const Tensor& weight,
                                                   const Tensor& bias, const Tensor& mean, const Tensor& rstd,
                                                   double eps, bool relu, int wanted) {
  Frame frame("batch_norm_backward", g, x, weight);
  return dispatch::apply(op::BatchNormBackward{eps, relu, wanted}, g, x, weight, bias, mean, rstd);
}

}  // namespace weft

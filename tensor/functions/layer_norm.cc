#include "tensor/functions/layer_norm.h"

#include <limits>

#include "tensor/adjoints/layer_norm.h"
#include "tensor/adjoints/norm_operands.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/layer_norm.h"

namespace weft {

Tensor layer_norm(const Tensor& x, int64_t normalized_axes, const Tensor& weight, const Tensor& bias, double eps) {
  ErrorFrame frame("layer_norm", x, weight, bias);
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  return dispatch::apply(op::LayerNorm{normalized_axes, eps}, in, w, b)[0];
}

Tensor rms_norm(const Tensor& x, int64_t normalized_axes, const Tensor& weight, std::optional<double> eps) {
  ErrorFrame frame("rms_norm", x, weight);
  const double least = x.dtype() == f64    ? std::numeric_limits<double>::epsilon()
                       : x.dtype() == bf16 ? 0x1p-7
                       : x.dtype() == f16  ? 0x1p-10
                                           : double{std::numeric_limits<float>::epsilon()};
  const auto [in, w, none] = internal::norm_operands<3>({x, weight, Tensor()}, 1, 2);
  return dispatch::apply(op::LayerNorm{normalized_axes, eps.value_or(least), true}, in, w, none)[0];
}

std::array<Tensor, 3> adjoint::layer_norm_backward(const Tensor& g, const Tensor& x, int64_t normalized_axes,
                                                   const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                   double eps, int wanted, bool rms) {
  ErrorFrame frame("layer_norm_backward", g, x, weight);
  return dispatch::apply(op::LayerNormBackward{normalized_axes, eps, wanted, rms}, g, x, weight, mean, rstd);
}

}  // namespace weft

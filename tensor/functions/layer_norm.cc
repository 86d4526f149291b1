#include "tensor/functions/layer_norm.h"

#include <limits>

#include "tensor/adjoints/layer_norm.h"
#include "tensor/adjoints/norm_operands.h"
#include "tensor/dispatch/apply.h"
#include "tensor/ops/layer_norm.h"

namespace weft {
namespace {

/// How many axes of x `shape` is that of.
int64_t last_axes(const Tensor& x, const Shape& shape) {
  if (shape.empty()) throw ShapeError("normalized_shape needs one axis or more");
  const bool fits = x.rank() >= shape.rank() && Shape(x.shape().end() - shape.rank(), x.shape().end()) == shape;
  if (!fits) throw ShapeError(text("the last axes must be ", shape));
  return shape.rank();
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  ErrorFrame frame("layer_norm", x, weight, bias);
  const int64_t axes = last_axes(x, normalized_shape);
  const auto [in, w, b] = internal::norm_operands<3>({x, weight, bias}, 1, 2);
  return dispatch::apply(op::LayerNorm{axes, eps}, in, w, b)[0];
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, std::optional<double> eps) {
  ErrorFrame frame("rms_norm", x, weight);
  const int64_t axes = last_axes(x, normalized_shape);
  // 16 bits are computed with in f32.
  const double least =
      x.dtype() == f64 ? std::numeric_limits<double>::epsilon() : double{std::numeric_limits<float>::epsilon()};
  const auto [in, w, none] = internal::norm_operands<3>({x, weight, Tensor()}, 1, 2);
  return dispatch::apply(op::LayerNorm{axes, eps.value_or(least), true}, in, w, none)[0];
}

std::array<Tensor, 3> adjoint::layer_norm_backward(const Tensor& g, const Tensor& x, int64_t normalized_axes,
                                                   const Tensor& weight, const Tensor& mean, const Tensor& rstd,
                                                   double eps, int wanted, bool rms) {
  ErrorFrame frame("layer_norm_backward", g, x, weight);
  return dispatch::apply(op::LayerNormBackward{normalized_axes, eps, wanted, rms}, g, x, weight, mean, rstd);
}

}  // namespace weft

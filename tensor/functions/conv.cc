#include "tensor/functions/conv.h"

#include "tensor/adjoints/conv.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/view.h"
#include "tensor/ops/conv.h"

namespace weft {

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  Frame frame("conv2d", x, weight, bias);
  if (x.rank() != 3) return dispatch::apply(op::Conv2d{options}, x, weight, bias);
  return squeeze(dispatch::apply(op::Conv2d{options}, unsqueeze(x, 0), weight, bias), 0);
}

namespace adjoint {

Tensor conv2d_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape,
                            const Conv2dOptions& options) {
  Frame frame("conv2d_backward_data", g, weight);
  return dispatch::apply(op::Conv2dBackwardData{options, input_shape}, g, weight);
}

Tensor conv2d_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const Conv2dOptions& options) {
  Frame frame("conv2d_backward_weights", x, g);
  const Strides strides = weight.is_dense() ? weight.strides() : row_major_strides(weight.shape());
  return dispatch::apply(op::Conv2dBackwardWeights{options, weight.shape(), strides}, x, g);
}

}  // namespace adjoint
}  // namespace weft

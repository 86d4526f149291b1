#include "tensor/functions/conv.h"

#include "tensor/adjoints/conv.h"
#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply_into.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/conv.h"

namespace weft {
namespace {

using adjoint::for_batch;

Tensor conv(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions& options) {
  Frame frame(name, x, weight, bias);
  return for_batch(x, options.axes,
                   [&](const Tensor& batch) { return dispatch::apply(op::Conv{options}, batch, weight, bias); });
}

template <class Sizes>
Tensor transposed(const char* name, const Tensor& x, const Tensor& weight, const Tensor& bias,
                  const ConvTransposeOptionsOf<Sizes>& o) {
  Frame frame(name, x, weight, bias);
  const ConvOptions options = ConvOptionsOf<Sizes>{o.stride, o.padding, o.dilation, o.groups, o.algorithm};
  return for_batch(x, Sizes::kAxes, [&](const Tensor& batch) {
    const Shape shape = transposed_conv_shape(batch.shape(), weight.shape(), options, as_triple(o.output_padding, 0));
    check_conv_bias(operand(bias), shape[1]);
    Tensor y = dispatch::apply(op::ConvBackwardData{options, shape}, batch, weight);
    if (!bias.defined()) return y;
    Shape row(static_cast<size_t>(Sizes::kAxes) + 1, 1);
    row[0] = shape[1];
    return std::move(y) + reshape(bias, row);
  });
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv1dOptions& options) {
  return conv("conv1d", x, weight, bias, options);
}
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  return conv("conv2d", x, weight, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv3dOptions& options) {
  return conv("conv3d", x, weight, bias, options);
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose1dOptions& options) {
  return transposed("conv_transpose1d", x, weight, bias, options);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose2dOptions& options) {
  return transposed("conv_transpose2d", x, weight, bias, options);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvTranspose3dOptions& options) {
  return transposed("conv_transpose3d", x, weight, bias, options);
}

namespace adjoint {

Tensor conv(const Tensor& x, const Tensor& weight, const ConvOptions& options) {
  Frame frame("conv", x, weight);
  return dispatch::apply(op::Conv{options}, x, weight, Tensor());
}

Tensor conv_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape, const ConvOptions& options) {
  Frame frame("conv_backward_data", g, weight);
  return dispatch::apply(op::ConvBackwardData{options, input_shape}, g, weight);
}

Tensor conv_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const ConvOptions& options,
                             const Tensor& into) {
  Frame frame("conv_backward_weights", x, g);
  const Strides strides = weight.is_dense() ? weight.strides() : row_major_strides(weight.shape());
  return dispatch::apply_into(op::ConvBackwardWeights{options, weight.shape(), strides}, into, x, g);
}

}  // namespace adjoint
}  // namespace weft

#include "tensor/ops/conv.h"

#include "tensor/kernels/cpu/window/conv.h"
#include "tensor/op.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/view.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

cpu::ConvParams params_of(const Conv2dOptions& o) {
  return {{o.stride.height, o.stride.width},
          {o.padding.height, o.padding.width},
          {o.dilation.height, o.dilation.width},
          o.groups};
}

void check_options(const Conv2dOptions& o) {
  if (o.stride.height < 1 || o.stride.width < 1)
    throw Error(text("stride ", o.stride.height, ", ", o.stride.width, " must be at least 1"));
  if (o.dilation.height < 1 || o.dilation.width < 1)
    throw Error(text("dilation ", o.dilation.height, ", ", o.dilation.width, " must be at least 1"));
  if (o.padding.height < 0 || o.padding.width < 0)
    throw Error(text("padding ", o.padding.height, ", ", o.padding.width, " must not be negative"));
  if (o.groups < 1) throw Error(text("groups ", o.groups, " must be at least 1"));
}

/// The shape of the result; all checks of shapes are here.
Shape output_shape(const Shape& x, const Shape& weight, const Conv2dOptions& o) {
  check_options(o);
  if (x.size() != 4) throw ShapeError(text("x must be (N, C, H, W), not ", x));
  if (weight.size() != 4) throw ShapeError(text("weight must be (O, C / groups, kh, kw), not ", weight));
  if (x[1] != checked_multiply(weight[1], o.groups))
    throw ShapeError(text("x has ", x[1], " channels, weight ", weight, " with ", o.groups, " groups takes ",
                          checked_multiply(weight[1], o.groups)));
  if (weight[0] % o.groups != 0)
    throw ShapeError(text(weight[0], " output channels do not divide into ", o.groups, " groups"));
  if (weight[2] < 1 || weight[3] < 1) throw ShapeError(text("the kernel of weight ", weight, " is empty"));
  const int64_t h = cpu::conv_output_size(x[2], weight[2], o.stride.height, o.padding.height, o.dilation.height);
  const int64_t w = cpu::conv_output_size(x[3], weight[3], o.stride.width, o.padding.width, o.dilation.width);
  if (h < 1 || w < 1) throw ShapeError(text("the kernel of weight ", weight, " is larger than the padded input ", x));
  return {x[0], weight[0], h, w};
}

View channels_last(const Shape& shape) { return View::create(shape, cpu::channels_last_strides(shape)); }

void check_dtypes(const Tensor& a, const Tensor& b) {
  check_dtype(a, is_floating(a.dtype()), "floating dtypes");
  if (a.dtype() != b.dtype()) throw DtypeError(text("dtypes differ: ", a.dtype(), " and ", b.dtype()));
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Conv2dOptions& options) {
  Frame frame("conv2d", x, weight, bias);
  return apply(op::Conv2d{options}, x, weight, bias);
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Conv2dOptions& options) {
  return conv2d(x, weight, Tensor(), options);
}

Tensor conv2d_backward_data(const Tensor& g, const Tensor& weight, const Shape& input_shape,
                            const Conv2dOptions& options) {
  Frame frame("conv2d_backward_data", g, weight);
  return apply(op::Conv2dBackwardData{options, input_shape}, g, weight);
}

Tensor conv2d_backward_weights(const Tensor& x, const Tensor& g, const View& weight, const Conv2dOptions& options) {
  Frame frame("conv2d_backward_weights", x, g);
  const Strides strides = weight.is_dense() ? weight.strides() : View::contiguous(weight.shape()).strides();
  return apply(op::Conv2dBackwardWeights{options, weight.shape(), strides}, x, g);
}

std::string attribute_text(const Pair& value) {
  return value.height == value.width ? std::to_string(value.height) : text("(", value.height, ", ", value.width, ")");
}
std::string attribute_text(const Conv2dOptions& o) {
  return text("{stride=", attribute_text(o.stride), ", padding=", attribute_text(o.padding),
              ", dilation=", attribute_text(o.dilation), ", groups=", o.groups, "}");
}

namespace op {

Spec Conv2d::infer(const Tensor& x, const Tensor& weight, const Tensor& bias) const {
  check_dtypes(x, weight);
  const Shape shape = output_shape(x.shape(), weight.shape(), options);
  if (bias.defined()) {
    check_dtypes(x, bias);
    if (bias.shape() != Shape{weight.size(0)})
      throw ShapeError(text("bias must have shape [", weight.size(0), "], not ", bias.shape()));
  }
  return {channels_last(shape), x.dtype()};
}
void Conv2d::run(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor& out) const {
  cpu::conv2d(operand(x), operand(weight), OptionalOperand(bias).get(), operand(out), params_of(options));
}

Spec Conv2dBackwardData::infer(const Tensor& g, const Tensor& weight) const {
  check_dtypes(g, weight);
  const Shape expected = output_shape(shape, weight.shape(), options);
  if (g.shape() != expected) throw ShapeError(text("the gradient must have shape ", expected, ", not ", g.shape()));
  return {channels_last(shape), g.dtype()};
}
void Conv2dBackwardData::run(const Tensor& g, const Tensor& weight, Tensor& out) const {
  cpu::conv2d_backward_data(operand(g), operand(weight), operand(out), params_of(options));
}

Spec Conv2dBackwardWeights::infer(const Tensor& x, const Tensor& g) const {
  check_dtypes(x, g);
  const Shape expected = output_shape(x.shape(), shape, options);
  if (g.shape() != expected) throw ShapeError(text("the gradient must have shape ", expected, ", not ", g.shape()));
  return {View::create(shape, strides), x.dtype()};
}
void Conv2dBackwardWeights::run(const Tensor& x, const Tensor& g, Tensor& out) const {
  cpu::conv2d_backward_weights(operand(x), operand(g), operand(out), params_of(options));
}

}  // namespace op
}  // namespace weft

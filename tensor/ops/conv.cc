#include "tensor/ops/conv.h"

#include "tensor/ops/window.h"

namespace weft {

std::string attribute_text(const Pair& value) {
  return value.height == value.width ? std::to_string(value.height) : text("(", value.height, ", ", value.width, ")");
}
std::string attribute_text(const Conv2dOptions& o) {
  return text("{stride=", attribute_text(o.stride), ", padding=", attribute_text(o.padding),
              ", dilation=", attribute_text(o.dilation), ", groups=", o.groups, "}");
}

namespace op {
namespace {

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
  if (x.size() != 4) throw ShapeError(text("x must be (N, C, H, W) or (C, H, W), not ", x));
  if (weight.size() != 4) throw ShapeError(text("weight must be (O, C / groups, kh, kw), not ", weight));
  const int64_t channels = checked_multiply(weight[1], o.groups);
  if (x[1] != channels)
    throw ShapeError(
        text("x has ", x[1], " channels, weight ", weight, " with ", o.groups, " groups takes ", channels));
  if (weight[0] % o.groups != 0)
    throw ShapeError(text(weight[0], " output channels do not divide into ", o.groups, " groups"));
  if (weight[2] < 1 || weight[3] < 1) throw ShapeError(text("the kernel of weight ", weight, " is empty"));
  const int64_t h = conv_output_size(x[2], weight[2], o.stride.height, o.padding.height, o.dilation.height);
  const int64_t w = conv_output_size(x[3], weight[3], o.stride.width, o.padding.width, o.dilation.width);
  if (h < 1 || w < 1) throw ShapeError(text("the kernel of weight ", weight, " is larger than the padded input ", x));
  return {x[0], weight[0], h, w};
}

void check_gradient(const Operand& g, const Shape& expected) {
  if (g.shape() != expected) throw ShapeError(text("the gradient must have shape ", expected, ", not ", g.shape()));
}

}  // namespace

Spec Conv2d::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  const Shape shape = output_shape(x.shape(), weight.shape(), options);
  if (bias.defined() && bias.shape() != Shape{weight.size(0)})
    throw ShapeError(text("bias must have shape [", weight.size(0), "], not ", bias.shape()));
  return {channels_last_view(shape), x.dtype};
}

Spec Conv2dBackwardData::infer(const Operand& g, const Operand& weight) const {
  check_gradient(g, output_shape(shape, weight.shape(), options));
  return {channels_last_view(shape), g.dtype};
}

Spec Conv2dBackwardWeights::infer(const Operand& x, const Operand& g) const {
  check_gradient(g, output_shape(x.shape(), shape, options));
  return {View::create(shape, strides), x.dtype};
}

}  // namespace op
}  // namespace weft

#include "tensor/ops/conv.h"

#include "tensor/ops/window.h"

namespace weft {
namespace {

/// The last `axes` of three sizes: one number where they are equal, else `2, 1` between brackets.
std::string shown(const Size3& sizes, int64_t axes, const char* open, const char* close) {
  std::string out = std::to_string(sizes.width);
  bool equal = true;
  for (int64_t i = 1; i < axes; ++i) {
    out = text(sizes[2 - i], ", ", out);
    equal = equal && sizes[2 - i] == sizes.width;
  }
  return equal ? std::to_string(sizes.width) : open + out + close;
}
std::string shown(const Size3& sizes, int64_t axes) { return shown(sizes, axes, "(", ")"); }

/// The sizes of an error: all of them.
std::string listed(const Size3& sizes, int64_t axes) {
  std::string out;
  for (int64_t i = 3 - axes; i < 3; ++i) out += (out.empty() ? "" : ", ") + std::to_string(sizes[i]);
  return out;
}

void check_least(const char* what, const Size3& sizes, int64_t least, const ConvOptions& o) {
  for (int64_t i = 0; i < 3; ++i)
    if (sizes[i] < least) throw Error(text(what, " ", listed(sizes, o.axes), " must be ", least, " or more"));
}

void check_options(const ConvOptions& o) {
  check_least("stride", o.stride, 1, o);
  check_least("dilation", o.dilation, 1, o);
  check_least("padding", o.padding, 0, o);
  if (o.groups < 1) throw Error(text("groups ", o.groups, " must be 1 or more"));
}

const char* axes_of_kernel(int64_t axes) { return axes == 1 ? "k" : axes == 2 ? "kh, kw" : "kd, kh, kw"; }

void check_ranks(const Shape& x, const Shape& weight, int64_t axes, const char* weight_axes) {
  if (x.rank() != axes + 2) throw ShapeError(text("x must be ", spatial_shapes(axes), ", not ", x));
  if (weight.rank() != axes + 2)
    throw ShapeError(text("weight must be (", weight_axes, ", ", axes_of_kernel(axes), "), not ", weight));
  for (size_t i = 2; i < weight.size(); ++i)
    if (weight[i] < 1) throw ShapeError(text("the kernel of weight ", weight, " is empty"));
}

/// The shape of the result; all checks of shapes are here.
Shape output_shape(const Shape& x, const Shape& weight, const ConvOptions& o) {
  check_options(o);
  check_ranks(x, weight, o.axes, "O, C / groups");
  const int64_t channels = checked_multiply(weight[1], o.groups);
  if (x[1] != channels)
    throw ShapeError(
        text("x has ", x[1], " channels, weight ", weight, " with ", o.groups, " groups takes ", channels));
  if (weight[0] % o.groups != 0)
    throw ShapeError(text(weight[0], " output channels do not divide into ", o.groups, " groups"));
  Shape out = x;
  out[1] = weight[0];
  for (int64_t i = 3 - o.axes; i < 3; ++i) {
    const auto at = static_cast<size_t>(i + o.axes - 1);
    out[at] = conv_output_size(x[at], weight[at], o.stride[i], o.padding[i], o.dilation[i]);
    if (out[at] < 1) throw_window_too_large(weight[at], o.dilation[i], x[at], o.padding[i]);
  }
  return out;
}

}  // namespace

std::string attribute_text(const Size2& value) { return shown(Size3::of(value, 0), 2); }
std::string attribute_text(const Size3& value) { return shown(value, 3); }
std::string attribute_text(const ConvOptions& o) {
  return text("{stride=", shown(o.stride, o.axes), ", padding=", shown(o.padding, o.axes),
              ", dilation=", shown(o.dilation, o.axes), ", groups=", o.groups,
              o.algorithm == Convolution::direct ? ", algorithm=direct}" : "}");
}

void check_conv_bias(const Operand& bias, int64_t filters) {
  if (bias.defined() && bias.shape() != Shape{filters})
    throw ShapeError(text("bias must have shape [", filters, "], not ", bias.shape()));
}

Shape transposed_conv_shape(const Shape& x, const Shape& weight, const ConvOptions& o, const Size3& output_padding) {
  check_options(o);
  check_least("output_padding", output_padding, 0, o);
  check_ranks(x, weight, o.axes, "C, O / groups");
  if (x[1] != weight[0]) throw ShapeError(text("x has ", x[1], " channels, weight ", weight, " takes ", weight[0]));
  if (x[1] % o.groups != 0) throw ShapeError(text(x[1], " channels do not divide into ", o.groups, " groups"));
  Shape out = x;
  out[1] = checked_multiply(weight[1], o.groups);
  for (int64_t i = 3 - o.axes; i < 3; ++i) {
    if (output_padding[i] >= o.stride[i] && output_padding[i] >= o.dilation[i])
      throw Error(text("output_padding ", listed(output_padding, o.axes), " must be smaller than stride ",
                       listed(o.stride, o.axes), " or dilation ", listed(o.dilation, o.axes)));
    const auto at = static_cast<size_t>(i + o.axes - 1);
    if (x[at] < 1) throw ShapeError(text("x ", x, " has nothing to spread"));
    const int64_t window = checked_add(checked_multiply(o.dilation[i], weight[at] - 1), output_padding[i] + 1);
    out[at] =
        checked_add(checked_add(checked_multiply(x[at] - 1, o.stride[i]), window), -checked_multiply(2, o.padding[i]));
    if (out[at] < 1) throw ShapeError(text("padding ", listed(o.padding, o.axes), " leaves nothing of the result"));
  }
  return out;
}

namespace op {

Spec Conv::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  const Shape shape = output_shape(x.shape(), weight.shape(), options);
  check_conv_bias(bias, weight.size(0));
  return {channels_last_view(shape), x.dtype};
}

Spec ConvScaled::infer(const Operand& x, const Operand& weight, const Operand& scale, const Operand& shift,
                       const Operand& residual, const Operand& packed) const {
  const Shape shape = output_shape(x.shape(), weight.shape(), options);
  const auto check = [&](const char* what, const Operand& given, const Shape& wanted) {
    if (given.defined() && given.shape() != wanted)
      throw ShapeError(text(what, " must have shape ", wanted, ", not ", given.shape()));
  };
  check("scale", scale, {weight.size(0)});
  check("shift", shift, {weight.size(0)});
  check("residual", residual, shape);
  if (packed.defined() && (packed.dtype != weight.dtype || packed.rank() != 1))
    throw ShapeError(text("the prepacked weight must be ", weight.dtype, " of one axis, not ", packed.dtype, " of ",
                          packed.shape()));
  return {channels_last_view(shape), x.dtype};
}

Spec ConvPrepack::infer(const Operand& weight) const { return {View::contiguous({elements}), weight.dtype}; }

Spec ConvBackwardData::infer(const Operand& g, const Operand& weight) const {
  check_gradient(g, output_shape(shape, weight.shape(), options));
  return {channels_last_view(shape), g.dtype};
}

Spec ConvBackwardWeights::infer(const Operand& x, const Operand& g) const {
  check_gradient(g, output_shape(x.shape(), shape, options));
  return {View::create(shape, strides), x.dtype};
}

}  // namespace op
}  // namespace weft

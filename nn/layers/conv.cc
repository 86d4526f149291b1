#include "nn/layers/conv.h"

#include <array>

#include "nn/init.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/dispatch/modes.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/pad_mode.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

/// What the options of all layers here have.
template <class Options> void check_common(const Options& o) {
  detail::check_positive("in_channels", o.in_channels);
  detail::check_positive("out_channels", o.out_channels);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.stride);
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("dilation", o.dilation);
  detail::check_positive("groups", o.groups);
  if (o.in_channels % o.groups != 0 || o.out_channels % o.groups != 0)
    throw ShapeError(
        text(o.in_channels, " and ", o.out_channels, " channels do not divide into ", o.groups, " groups"));
}

template <class Sizes> void check(const ConvLayerOptions<Sizes>& o) {
  check_common(o);
  weft::detail::check_padding(o.padding, o.stride);
}

template <class Sizes> void check(const ConvTransposeLayerOptions<Sizes>& o) {
  check_common(o);
  detail::check_not_negative("output_padding", o.output_padding);
  for (int64_t i = 0; i < Sizes::kAxes; ++i)
    if (o.output_padding[i] >= o.stride[i] && o.output_padding[i] >= o.dilation[i])
      throw ShapeError(text("output_padding ", o.output_padding[i], " must be smaller than stride ", o.stride[i],
                            " or dilation ", o.dilation[i]));
}

template <class Sizes> Shape sizes_of(const Sizes& sizes) {
  Shape out;
  for (int64_t i = 0; i < Sizes::kAxes; ++i) out.push_back(sizes[i]);
  return out;
}
const char* shown(PadMode mode) {
  const std::array names = {"zeros", "reflect", "replicate", "circular"};
  return names.at(static_cast<size_t>(mode));
}

/// The options that every convolution layer prints.
template <class Options> detail::OptionList common_options(const Options& o) {
  detail::OptionList out;
  out.add(o.in_channels).add(o.out_channels).add("kernel_size", o.kernel_size).add("stride", o.stride);
  return out;
}

template <class Sizes> std::string described(const ConvLayerOptions<Sizes>& o) {
  detail::OptionList out = common_options(o);
  if (o.padding.is_same)
    out.add("padding", "same");
  else
    out.add_unless(0, "padding", Sizes(o.padding));
  out.add_unless(1, "dilation", o.dilation).add_unless(1, "groups", o.groups);
  out.add_unless(true, "bias", o.bias);
  if (o.padding_mode != PadMode::constant) out.add("padding_mode", shown(o.padding_mode));
  return out.line();
}

template <class Sizes> std::string described(const ConvTransposeLayerOptions<Sizes>& o) {
  detail::OptionList out = common_options(o);
  out.add_unless(0, "padding", o.padding).add_unless(0, "output_padding", o.output_padding);
  out.add_unless(1, "groups", o.groups).add_unless(true, "bias", o.bias);
  return out.add_unless(1, "dilation", o.dilation).line();
}

template <class Sizes, class Conv>
Tensor convolved(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvLayerOptions<Sizes>& o,
                 const Conv& conv) {
  return conv(x, weight, bias, {o.stride, o.padding, o.dilation, o.groups, o.algorithm, o.padding_mode});
}

template <class Sizes, class Conv>
Tensor convolved(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvTransposeLayerOptions<Sizes>& o,
                 const Conv& conv) {
  return conv(x, weight, bias, {o.stride, o.padding, o.output_padding, o.groups, o.dilation, o.algorithm});
}

/// `o` with the output_padding that gives the convolution of x these spatial sizes.
template <class Sizes>
ConvTransposeLayerOptions<Sizes> sized(ConvTransposeLayerOptions<Sizes> o, const Tensor& x, const Shape& size) {
  constexpr int64_t kAxes = Sizes::kAxes;
  if (x.rank() != kAxes + 1 && x.rank() != kAxes + 2) return o;  // the convolution says what is wrong
  if (size.rank() != kAxes && size.rank() != x.rank())
    throw ShapeError(text("the size must have ", kAxes, " axes, or those of x, not be ", size));
  std::array<int64_t, 3> more = {};
  for (int64_t i = 0; i < kAxes; ++i) {
    const int64_t wanted = size[static_cast<size_t>(size.rank() - kAxes + i)];
    const int64_t window = checked_add(checked_multiply(o.dilation[i], o.kernel_size[i] - 1), 1);
    const int64_t spread = checked_add(checked_multiply(x.size(i - kAxes) - 1, o.stride[i]), window);
    const int64_t least = checked_add(spread, -checked_multiply(2, o.padding[i])),
                  end = checked_add(least, o.stride[i]);
    if (wanted < least || wanted >= end)
      throw ShapeError(
          text("an axis of ", x.size(i - kAxes), " gives sizes from ", least, " to ", end - 1, ", not ", wanted));
    more[static_cast<size_t>(i)] = wanted - least;
  }
  if constexpr (kAxes == 1) o.output_padding = more[0];
  if constexpr (kAxes == 2) o.output_padding = {more[0], more[1]};
  if constexpr (kAxes == 3) o.output_padding = {more[0], more[1], more[2]};
  return o;
}

/// The first two sizes of the weight.
template <class Sizes> std::pair<int64_t, int64_t> channels_of(const ConvLayerOptions<Sizes>& o) {
  return {o.out_channels, o.in_channels / o.groups};
}
template <class Sizes> std::pair<int64_t, int64_t> channels_of(const ConvTransposeLayerOptions<Sizes>& o) {
  return {o.in_channels, o.out_channels / o.groups};
}

}  // namespace

// (first, second, kernel...) with the first axis innermost in memory: each tap is a matrix that products take as it is,
// and libraries reorder it in whole registers.
template <class Self>
void ConvLayer<Self>::make_parameters(int64_t first, int64_t second, const Shape& kernel, int64_t biases, DType dtype) {
  Shape memory = kernel;
  memory.push_back(second);
  memory.push_back(first);
  IntList order = {memory.rank() - 1, memory.rank() - 2};
  for (int64_t i = 0; i < kernel.rank(); ++i) order.push_back(i);
  weight_ = this->register_parameter("weight", empty(memory, dtype).permute(order));
  if (biases > 0) bias_ = this->register_parameter("bias", empty({biases}, dtype));
  init::layer_default(weight_, bias_);
}

#define WEFT_CONV_LAYER(Name)                                                                              \
  Name::Name(const Name##Options& options) : options_(options) {                                           \
    ErrorFrame frame(#Name);                                                                               \
    check(options);                                                                                        \
    describe(described(options));                                                                          \
    const auto [first, second] = channels_of(options);                                                     \
    make_parameters(first, second, sizes_of(options.kernel_size), options.bias ? options.out_channels : 0, \
                    options.dtype);                                                                        \
  }
WEFT_CONV_LAYER(Conv1d)
WEFT_CONV_LAYER(Conv2d)
WEFT_CONV_LAYER(Conv3d)
WEFT_CONV_LAYER(ConvTranspose1d)
WEFT_CONV_LAYER(ConvTranspose2d)
WEFT_CONV_LAYER(ConvTranspose3d)
#undef WEFT_CONV_LAYER

/// The function that computes a layer.
#define WEFT_CONV_FUNCTION(Name, function)                                                      \
  [](const Tensor& x, const Tensor& weight, const Tensor& bias, const weft::Name##Options& o) { \
    return function(x, weight, bias, o);                                                        \
  }
#define WEFT_CONV_FORWARD(Name, function)                                                \
  Tensor Name::forward(const Tensor& x) const {                                          \
    return convolved(x, weight(), bias(), options_, WEFT_CONV_FUNCTION(Name, function)); \
  }
#define WEFT_CONV_WITH_SIZE(Name, function)                                                              \
  Tensor Name::forward(const Tensor& x, const Shape& size) const {                                       \
    ErrorFrame frame(#Name, x);                                                                          \
    return convolved(x, weight(), bias(), sized(options_, x, size), WEFT_CONV_FUNCTION(Name, function)); \
  }
WEFT_CONV_FORWARD(Conv1d, conv1d)
WEFT_CONV_FORWARD(Conv3d, conv3d)
WEFT_CONV_FORWARD(ConvTranspose1d, conv_transpose1d)
WEFT_CONV_FORWARD(ConvTranspose2d, conv_transpose2d)
WEFT_CONV_FORWARD(ConvTranspose3d, conv_transpose3d)
WEFT_CONV_WITH_SIZE(ConvTranspose1d, conv_transpose1d)
WEFT_CONV_WITH_SIZE(ConvTranspose2d, conv_transpose2d)
WEFT_CONV_WITH_SIZE(ConvTranspose3d, conv_transpose3d)
#undef WEFT_CONV_FUNCTION
#undef WEFT_CONV_FORWARD
#undef WEFT_CONV_WITH_SIZE

bool runs_unseen(const Tensor& x) {
  return !internal::modes().recording && internal::modes().autocast == f32 && !internal::needs_separate_ops() &&
         detail::forward_hooks() == 0 && x.device().is_cpu();
}

Tensor Conv2d::forward(const Tensor& x) const {
  const bool keeps = options_.kernel_size == Size2(3) && options_.dtype == f32 && x.rank() == 4 && x.dtype() == f32;
  if (keeps && runs_unseen(x)) return forward_scaled(x, {});
  return convolved(x, weight(), bias(), options_,
                   [](const Tensor& in, const Tensor& w, const Tensor& b, const weft::Conv2dOptions& o) {
                     return conv2d(in, w, b, o);
                   });
}

Tensor Conv2d::forward_scaled(const Tensor& x, ConvScaling s) const {
  const Tensor w = weight(), b = bias();
  ErrorFrame frame("conv2d", x, w, b);  // errors name the same function whether forward() takes this way or not
  if (b.defined()) {
    Tensor shift = s.scale.defined() ? b * s.scale : b;
    s.shift = s.shift.defined() ? std::move(shift) + s.shift : shift;
  }
  return convolved(x, w, {}, options_,
                   [&](const Tensor& in, const Tensor& filters, const Tensor&, const weft::Conv2dOptions& o) {
                     return conv2d_scaled(in, filters, s, o, &prepacked());
                   });
}

}  // namespace weft::nn

#include "tensor/ops/conv.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "tensor/kernels/cpu/base/convert.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/pointwise/copy.h"
#include "tensor/kernels/cpu/pointwise/fill.h"
#include "tensor/kernels/cpu/window/conv_choice.h"
#include "tensor/kernels/cpu/window/conv_operands.h"
#include "tensor/kernels/cpu/window/depthwise_conv.h"
#include "tensor/kernels/cpu/window/few_channels_conv.h"
#include "tensor/kernels/cpu/window/grouped_conv.h"
#include "tensor/kernels/cpu/window/onednn_conv.h"
#include "tensor/kernels/cpu/window/product_conv.h"
#include "tensor/kernels/cpu/window/tap_conv.h"

namespace weft::kernels::cpu {
namespace {

/// What a bias is added in.
template <class T> using BiasOf = Compute<T>;

/// out (N, C, D, H, W) = bias, or zeros: there is nothing to sum.
void fill_with(const Operand& out, const Operand& bias) {
  if (!bias.defined()) return fill(out, 0);
  const View everywhere = bias.view->unsqueeze(1).unsqueeze(2).unsqueeze(3).broadcast(out.shape());
  copy(bias.with(everywhere), out);
}

/// Convolutions that oneDNN's bf16 kernels take twice as long for as f32's kernels do with both conversions: groups of
/// few channels, and volumes group by group.
bool is_slow_in_bf16(const ConvShape& s) {
  return s.groups > 1 && (is_depthwise(s) ? !s.is_flat() : s.group_channels() <= 8 && s.group_filters() <= 8);
}

/// Depthwise convolutions whose bf16 gradient of the weight takes oneDNN 8 times as long as f32's: of more than 3 x 3
/// taps.
bool is_slow_in_bf16_for_weights(const ConvShape& s) { return is_depthwise(s) && s.taps() > 9; }

/// Images of few channels cut into patches that do not overlap (the first layer of a vision transformer): oneDNN's bf16
/// gradients of these take 2 to 100 times as long as products in f32.
bool cuts_patches(const ConvShape& s) {
  if (s.channels > 4 || s.groups > 1 || s.padding != Size3(0) || s.dilation != Size3(1)) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (s.stride[axis] < s.kernel[axis]) return false;
  return s.taps() > 1;
}

/// f.operator()<S, T>() for the operands' elements S and what is computed with: bf16 itself where the CPU has products
/// of it, and what halves are widened to where that gave false.
template <class F> void visit_computed(DType dtype, const ConvShape& s, F&& f) {
  visit_floating(dtype, [&]<class S>() {
    if constexpr (std::is_same_v<S, BFloat16>)
      if (!loops_forced() && onednn::has_fast_bf16() && fits_library(s) && !is_slow_in_bf16(s) &&
          f.template operator()<S, S>())
        return;
    f.template operator()<S, Compute<S>>();
  });
}

/// Gradients of weights that the loops and products below compute in half of oneDNN's time and less (measured with
/// AVX2): depthwise but on small images, and of sequences, whose one line it does not divide.
bool is_slow_for_weights(const ConvShape& s) {
  if (is_depthwise(s)) return s.out[2] >= 14;
  return s.groups == 1 && s.in[0] * s.in[1] == 1 && s.channels >= 16 && s.filters >= 16;
}

/// Dilated windows, whose bf16 gradient of the weight oneDNN computes wrongly: with AMX, products of bf16 tap by tap
/// take a third to nine tenths of the time of f32's convolution.
bool prefers_taps_for_weights(const ConvShape& s) {
  if (prefers_taps(s)) return true;
  if (s.dilation == Size3(1) || !s.is_flat() || s.groups > 1 || !onednn::has_amx()) return false;
  return std::min(s.channels, s.filters) >= 64;
}

/// The images of a convolution as its kernels read them. A 1 x 1 convolution with a stride reads only every stride-th
/// pixel: of images that must be copied anyway, only those pixels are copied, and the convolution of the copy has
/// stride 1. (The copy is row-major at first: the transposition to channels-last needs contiguous pixels.)
class ReadImages {
 public:
  ReadImages(const Operand& x, ConvShape& s) : operand_(x) {
    if (s.taps() != 1 || s.stride == Size3(1) || s.padding != Size3(0) || is_channels_last(x)) return;
    View met = *x.view;
    for (int axis = 0; axis < 3; ++axis) met = met.slice(axis + 2, std::nullopt, std::nullopt, s.stride[axis]);
    dense_ = View::contiguous(met.shape());
    memory_.emplace(checked_multiply(met.numel(), static_cast<int64_t>(size_of(x.dtype))));
    operand_ = {memory_->data(), &*dense_, x.dtype, x.device};
    copy(x.with(met), operand_);
    s.stride = Size3(1);
    s.in = s.out;
  }
  ReadImages(const ReadImages&) = delete;
  ReadImages& operator=(const ReadImages&) = delete;
  const Operand& operator*() const { return operand_; }

 private:
  std::optional<View> dense_;
  std::optional<Scratch<std::byte>> memory_;
  Operand operand_;
};

template <class T>
bool backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x);

/// Groups of few filters: a product of windows and weight would have as few columns, that of the data's gradient does
/// not.
bool prefers_flipped(const ConvShape& s) {
  if (loops_forced() || s.groups == 1 || s.group_filters() >= 8 || s.stride != Size3(1)) return false;
  for (int axis = 0; axis < 3; ++axis)
    if (s.padding[axis] > s.dilation[axis] * (s.kernel[axis] - 1)) return false;
  return s.taps() > 1;
}

/// A convolution of stride 1 as the gradient of the data of another one: that with the window rotated by 180 degrees,
/// and with channels and filters of every group exchanged.
template <class T>
bool flipped_forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const BiasOf<T>* bias,
                     T* out) {
  ConvShape of = s;
  of.channels = s.filters, of.filters = s.channels, of.in = s.out, of.out = s.in;
  of.padding = {s.dilation[0] * (s.kernel[0] - 1) - s.padding[0], s.dilation[1] * (s.kernel[1] - 1) - s.padding[1],
                s.dilation[2] * (s.kernel[2] - 1) - s.padding[2]};
  const int64_t rows = s.group_channels(), columns = s.group_filters(), taps = s.taps();
  Scratch<T> turned(s.channels * columns * taps);  // (groups, channels, filters, taps)
  T* to = turned.data();
  for (int64_t c = 0; c < s.channels; ++c)
    for (int64_t f = 0; f < columns; ++f)
      for (int64_t a = s.kernel[0]; a-- > 0;)
        for (int64_t b = s.kernel[1]; b-- > 0;)
          for (int64_t k = s.kernel[2]; k-- > 0;)
            *to++ = w[(c / rows * columns + f) * strides[0] + c % rows * strides[1] + a * strides[2] + b * strides[3] +
                      k * strides[4]];
  const Strides turned_strides = row_major_strides({s.channels, columns, s.kernel[0], s.kernel[1], s.kernel[2]});
  const WeightStrides at = weight_strides({s.channels, columns, s.kernel[0], s.kernel[1], s.kernel[2]}, turned_strides);
  if (!backward_data<T>(of, x, turned.data(), at, out)) return false;
  if (bias != nullptr)
    parallel_for(s.out_pixels(), std::max<int64_t>(1, 16384 / s.filters), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        for (int64_t f = 0; f < s.filters; ++f) out[p * s.filters + f] += bias[f];
    });
  return true;
}

/// Whether a convolution of f64 runs in few_channels_conv.
bool takes_few_channels(const ConvShape& s, ConvDirection direction) {
  return !loops_forced() && !is_depthwise(s) && prefers_few_channels<double>(s, direction);
}

template <class T>
bool forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const BiasOf<T>* bias, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (takes_winograd(s, ConvDirection::forward) && winograd_conv(s, x, w, strides, nullptr, {.shift = bias}, out))
      return true;
    const ConvKernel kernel = choose_kernel(s, ConvDirection::forward);
    if (kernel == ConvKernel::taps) return tap_conv(s, x, w, strides, bias, out), true;
    if (kernel == ConvKernel::groups) return grouped_conv(s, x, w, strides, bias, out), true;
    if (kernel == ConvKernel::onednn && onednn::conv_forward(s, x, w, strides, bias, out)) return true;
  }
  if constexpr (std::is_same_v<T, double>)
    if (takes_few_channels(s, ConvDirection::forward)) return few_channels_conv<T>(s, x, w, strides, bias, out), true;
  if constexpr (is_half<T>) {
    if (prefers_taps(s)) return tap_conv(s, x, w, strides, bias, out), true;
    return onednn::conv_forward(s, x, w, strides, bias, out);
  } else {
    if (is_depthwise(s) && !loops_forced())
      depthwise_conv<T>(s, x, w, strides, bias, out);
    else if (prefers_flipped(s))
      return flipped_forward<T>(s, x, w, strides, bias, out);
    else
      product_conv<T>(s, x, w, strides, bias, out);
    return true;
  }
}

template <class T>
bool backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x) {
  if constexpr (std::is_same_v<T, float>) {
    if (takes_winograd(s, ConvDirection::backward_data) && winograd_conv_backward_data(s, grad, w, strides, grad_x))
      return true;
    const ConvKernel kernel = choose_kernel(s, ConvDirection::backward_data);
    if (kernel == ConvKernel::taps) return tap_conv_backward_data(s, grad, w, strides, grad_x), true;
    if (kernel == ConvKernel::groups) return grouped_conv_backward_data(s, grad, w, strides, grad_x), true;
    if (kernel == ConvKernel::onednn && onednn::conv_backward_data(s, grad, w, strides, grad_x)) return true;
  }
  if constexpr (std::is_same_v<T, double>)
    if (takes_few_channels(s, ConvDirection::backward_data))
      return few_channels_conv_backward_data<T>(s, grad, w, strides, grad_x), true;
  if constexpr (is_half<T>) {
    if (prefers_taps(s)) return tap_conv_backward_data(s, grad, w, strides, grad_x), true;
    return !cuts_patches(s) && onednn::conv_backward_data(s, grad, w, strides, grad_x);
  } else {
    if (is_depthwise(s) && !loops_forced())
      depthwise_conv_backward_data<T>(s, grad, w, strides, grad_x);
    else
      product_conv_backward_data<T>(s, grad, w, strides, grad_x);
    return true;
  }
}

template <class T>
bool backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_w, const WeightStrides& strides) {
  if constexpr (std::is_same_v<T, float>) {
    if (takes_winograd(s, ConvDirection::backward_weights) &&
        winograd_conv_backward_weights(s, x, grad, grad_w, strides))
      return true;
    if (!loops_forced() && prefers_few_channels<T>(s, ConvDirection::backward_weights))
      return few_channels_conv_backward_weights(s, x, grad, grad_w, strides), true;
    const ConvKernel kernel = choose_kernel(s, ConvDirection::backward_weights);
    if (kernel == ConvKernel::taps) return tap_conv_backward_weights(s, x, grad, grad_w, strides), true;
    if (kernel == ConvKernel::groups) return grouped_conv_backward_weights(s, x, grad, grad_w, strides), true;
    if (kernel == ConvKernel::onednn && !is_slow_for_weights(s) &&
        onednn::conv_backward_weights(s, x, grad, grad_w, strides))
      return true;
  }
  if constexpr (std::is_same_v<T, double>)
    if (takes_few_channels(s, ConvDirection::backward_weights))
      return few_channels_conv_backward_weights<T>(s, x, grad, grad_w, strides), true;
  if constexpr (is_half<T>) {
    if (prefers_taps_for_weights(s)) return tap_conv_backward_weights(s, x, grad, grad_w, strides), true;
    return !cuts_patches(s) && !is_slow_in_bf16_for_weights(s) &&
           onednn::conv_backward_weights(s, x, grad, grad_w, strides);
  } else {
    if (is_depthwise(s) && !loops_forced())
      depthwise_conv_backward_weights<T>(s, x, grad, grad_w, strides);
    else
      product_conv_backward_weights<T>(s, x, grad, grad_w, strides);
    return true;
  }
}

}  // namespace

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// In two axes: out(n, o, i, j) = bias(o) + sum over c, a, b of weight(o, c, a, b) x(n, g + c, i s - p + a d, j s - p +
/// b d), with zeros outside of x and g the first channel of o's group. Any strides; what is not dense and channels-last
/// is copied. f32 runs in Winograd's filtering, in oneDNN or in products; bf16 in oneDNN where the CPU has products of
/// it, else, as f16, in f32, rounded at the end; f64 in products, few channels in overlapping windows.
void op::Conv::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const {
  const FiveAxes x5(x), weight5(weight), out5(out);
  ConvShape s = shape_of(*x5, *weight5, *out5, options);
  if (s.is_empty()) return fill_with(*out5, bias);
  const ReadImages images(*x5, s);
  visit_computed(out.dtype, s, [&]<class S, class T>() {
    const ImageIn<S, T> in(*images);
    const WeightIn<S, T> w(*weight5);
    ImageOut<S, T> result(*out5);
    Scratch<BiasOf<T>> dense_bias(bias.defined() ? s.filters : 0);
    if (bias.defined())
      for (int64_t o = 0; o < s.filters; ++o) dense_bias.data()[o] = bias.data<S>()[o * bias.stride(0)];
    if (!forward<T>(s, in.data(), w.data(), w.strides(), dense_bias.data(), result.data())) return false;
    result.finish();
    return true;
  });
}

void op::ConvBackwardData::cpu(const Operand& g, const Operand& weight, const Operand& out) const {
  const FiveAxes g5(g), weight5(weight), out5(out);
  const ConvShape s = shape_of(*out5, *weight5, *g5, options);
  if (s.is_empty()) return fill(*out5, 0);
  visit_computed(out.dtype, s, [&]<class S, class T>() {
    const ImageIn<S, T> in(*g5);
    const WeightIn<S, T> w(*weight5);
    ImageOut<S, T> result(*out5);
    if (!backward_data<T>(s, in.data(), w.data(), w.strides(), result.data())) return false;
    result.finish();
    return true;
  });
}

void op::ConvBackwardWeights::cpu(const Operand& x, const Operand& g, const Operand& out) const {
  const FiveAxes x5(x), g5(g), out5(out);
  ConvShape s = shape_of(*x5, *out5, *g5, options);
  if (s.is_empty()) return fill(*out5, 0);
  const ReadImages images(*x5, s);
  visit_computed(out.dtype, s, [&]<class S, class T>() {
    const ImageIn<S, T> in(*images), grad(*g5);
    const bool dense = out.view->is_dense(), direct = std::is_same_v<S, T> && dense;
    Scratch<T> copy(direct ? 0 : out.numel());
    const Strides at = dense ? out5->strides() : row_major_strides(out5->shape());
    const WeightStrides to = weight_strides(out5->shape(), at);
    T* result = direct ? reinterpret_cast<T*>(out.data<S>()) : copy.data();
    if (!backward_weights<T>(s, in.data(), grad.data(), result, to)) return false;
    if (!direct) copy_image<T, S>(result, at, out5->data<S>(), out5->strides(), out5->shape());
    return true;
  });
}

}  // namespace weft

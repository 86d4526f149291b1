#include "tensor/ops/conv.h"

#include <type_traits>

#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/loop_conv.h"
#include "tensor/kernels/cpu/window/tap_conv.h"

namespace weft::kernels::cpu {
namespace {

ConvShape shape_of(const Operand& x, const Operand& weight, const Operand& out, const Conv2dOptions& options) {
  return {options,     x.size(0),  x.size(1), x.size(2), x.size(3), weight.size(0), {weight.size(2), weight.size(3)},
          out.size(2), out.size(3)};
}

/// What convolutions compute in: bf16 and f16 are widened.
template <class S>
using Compute = std::conditional_t<std::is_same_v<S, double>, double, float>;

/// Strides for libraries, which look at those of axes of size 1 too.
WeightStrides weight_strides(const Shape& shape, const Strides& strides) {
  WeightStrides result;
  for (size_t i = 0; i < 4; ++i) result[i] = shape[i] == 1 ? 1 : strides[i];
  return result;
}

/// A weight as T with strides that do not overlap: its own memory, or a row-major copy.
template <class S, class T>
class WeightIn {
 public:
  explicit WeightIn(const Operand& w) {
    if constexpr (std::is_same_v<S, T>)
      if (w.view->is_dense()) {
        data_ = w.data<T>();
        strides_ = weight_strides(w.shape(), w.strides());
        return;
      }
    const Strides strides = row_major_strides(w.shape());
    copy_.emplace(w.numel());
    copy_image<S, T>(w.data<S>(), w.strides(), copy_->data(), strides, w.shape());
    data_ = copy_->data();
    strides_ = weight_strides(w.shape(), strides);
  }
  const T* data() const { return data_; }
  const WeightStrides& strides() const { return strides_; }

 private:
  std::optional<Scratch<T>> copy_;
  const T* data_;
  WeightStrides strides_;
};

/// out = bias or zeros where there is nothing to sum.
template <class S>
void fill(const Operand& out, const Operand& bias = {}) {
  for (int64_t n = 0; n < out.size(0); ++n)
    for (int64_t c = 0; c < out.size(1); ++c)
      for (int64_t h = 0; h < out.size(2); ++h)
        for (int64_t w = 0; w < out.size(3); ++w)
          out.data<S>()[n * out.stride(0) + c * out.stride(1) + h * out.stride(2) + w * out.stride(3)] =
              bias.defined() ? bias.data<S>()[c * bias.stride(0)] : S{};
}

/// How an f32 convolution runs, by sizes alone.
enum class Way { product, taps, onednn };

/// Whether oneDNN takes such distances of pixels: it generates code pixel by pixel of the padding (2^20 take seconds),
/// and counts in 32 bits.
bool fits_library(const ConvShape& s) {
  constexpr int64_t kMost = int64_t{1} << 15;
  for (int axis = 0; axis < 2; ++axis)
    if (s.stride[axis] > kMost || s.padding[axis] > kMost || s.dilation[axis] > kMost) return false;
  return true;
}

Way way_of(const ConvShape& s) {
  if (loops_forced() || !fits_library(s)) return Way::product;
  if (s.is_pointwise() && s.groups == 1) return Way::product;  // it is one, with nothing laid out
  return prefers_taps(s) ? Way::taps : Way::onednn;
}

template <class T>
void forward(const ConvShape& s, const T* x, const T* w, const WeightStrides& strides, const T* bias, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    const Way way = way_of(s);
    if (way == Way::taps) return tap_conv(s, x, w, strides, bias, out);
    if (way == Way::onednn && onednn::conv_forward(s, x, w, strides, bias, out)) return;
  }
  product_conv<T>(s, x, w, strides, bias, out);
}

template <class T>
void backward_data(const ConvShape& s, const T* grad, const T* w, const WeightStrides& strides, T* grad_x) {
  if constexpr (std::is_same_v<T, float>) {
    const Way way = way_of(s);
    if (way == Way::taps) return tap_conv_backward_data(s, grad, w, strides, grad_x);
    if (way == Way::onednn && onednn::conv_backward_data(s, grad, w, strides, grad_x)) return;
  }
  product_conv_backward_data<T>(s, grad, w, strides, grad_x);
}

template <class T>
void backward_weights(const ConvShape& s, const T* x, const T* grad, T* grad_w, const WeightStrides& strides) {
  if constexpr (std::is_same_v<T, float>) {
    const Way way = way_of(s);
    if (way == Way::taps) return tap_conv_backward_weights(s, x, grad, grad_w, strides);
    if (way == Way::onednn && onednn::conv_backward_weights(s, x, grad, grad_w, strides)) return;
  }
  product_conv_backward_weights<T>(s, x, grad, grad_w, strides);
}

}  // namespace

bool is_channels_last(const Operand& x) {
  const Strides wanted = channels_last_strides(x.shape());
  for (int64_t i = 0; i < 4; ++i)
    if (x.size(i) != 1 && x.stride(i) != wanted[static_cast<size_t>(i)]) return false;
  return true;
}

}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// out(n, o, i, j) = bias(o) + sum over c, a, b of weight(o, c, a, b) x(n, g + c, i s - p + a d, j s - p + b d), with
/// zeros outside of x and g the first channel of o's group. Any strides; what is not dense and channels-last is copied.
/// f32 runs in oneDNN or in products; bf16 and f16 in f32, rounded at the end; f64 in products.
void op::Conv2d::cpu(const Operand& x, const Operand& weight, const Operand& bias, const Operand& out) const {
  const ConvShape s = shape_of(x, weight, out, options);
  visit_floating(out.dtype, [&]<class S>() {
    using T = Compute<S>;
    if (s.is_empty()) return fill<S>(out, bias);
    const ImageIn<S, T> in(x);
    const WeightIn<S, T> w(weight);
    ImageOut<S, T> result(out);
    Scratch<T> dense_bias(bias.defined() ? s.filters : 0);
    if (bias.defined())
      for (int64_t o = 0; o < s.filters; ++o) dense_bias.data()[o] = bias.data<S>()[o * bias.stride(0)];
    forward<T>(s, in.data(), w.data(), w.strides(), dense_bias.data(), result.data());
    result.finish();
  });
}

void op::Conv2dBackwardData::cpu(const Operand& g, const Operand& weight, const Operand& out) const {
  const ConvShape s = shape_of(out, weight, g, options);
  visit_floating(out.dtype, [&]<class S>() {
    using T = Compute<S>;
    if (s.is_empty()) return fill<S>(out);
    const ImageIn<S, T> in(g);
    const WeightIn<S, T> w(weight);
    ImageOut<S, T> result(out);
    backward_data<T>(s, in.data(), w.data(), w.strides(), result.data());
    result.finish();
  });
}

void op::Conv2dBackwardWeights::cpu(const Operand& x, const Operand& g, const Operand& out) const {
  const ConvShape s = shape_of(x, out, g, options);
  visit_floating(out.dtype, [&]<class S>() {
    using T = Compute<S>;
    if (s.is_empty()) return fill<S>(out);
    const ImageIn<S, T> in(x), grad(g);
    const bool direct = std::is_same_v<S, T> && out.view->is_dense();
    Scratch<T> copy(direct ? 0 : out.numel());
    const Strides at = direct ? out.strides() : row_major_strides(out.shape());
    const WeightStrides to = weight_strides(out.shape(), at);
    T* result = direct ? reinterpret_cast<T*>(out.data<S>()) : copy.data();
    backward_weights<T>(s, in.data(), grad.data(), result, to);
    if (!direct) copy_image<T, S>(result, at, out.data<S>(), out.strides(), out.shape());
  });
}

}  // namespace weft

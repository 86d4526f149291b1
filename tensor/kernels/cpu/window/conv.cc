#include "tensor/kernels/cpu/window/conv.h"

#include <type_traits>

#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/force_loops.h"
#include "tensor/kernels/cpu/base/onednn.h"
#include "tensor/kernels/cpu/window/conv_shape.h"
#include "tensor/kernels/cpu/window/loop_conv.h"
#include "tensor/kernels/cpu/window/tap_conv.h"

namespace weft::kernels::cpu {
namespace {

ConvShape shape_of(const Operand& x, const Operand& weight, const Operand& out, const ConvParams& p) {
  return {x.size(0),
          x.size(1),
          x.size(2),
          x.size(3),
          weight.size(0),
          {weight.size(2), weight.size(3)},
          out.size(2),
          out.size(3),
          {p.stride[0], p.stride[1]},
          {p.padding[0], p.padding[1]},
          {p.dilation[0], p.dilation[1]},
          p.groups};
}

/// What convolutions compute in: bf16 and f16 are widened.
template <class S>
using Compute = std::conditional_t<std::is_same_v<S, double>, double, float>;

/// Calls f.operator()<S>() with a floating element type.
template <class F>
void visit_floating(DType dtype, F&& f) {
  if (!is_floating(dtype)) throw DtypeError(text("convolutions accept f32, f64, bf16 and f16, not ", dtype));
  visit_dtype(dtype, [&]<class S>() {
    if constexpr (!std::is_integral_v<S>) f.template operator()<S>();
  });
}

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
void fill(const Operand& out, const Operand* bias) {
  for (int64_t n = 0; n < out.size(0); ++n)
    for (int64_t c = 0; c < out.size(1); ++c)
      for (int64_t h = 0; h < out.size(2); ++h)
        for (int64_t w = 0; w < out.size(3); ++w)
          out.data<S>()[n * out.stride(0) + c * out.stride(1) + h * out.stride(2) + w * out.stride(3)] =
              bias != nullptr ? bias->data<S>()[c * bias->stride(0)] : S{};
}

/// How an f32 convolution runs, by sizes alone.
enum class Way { product, taps, onednn };

Way way_of(const ConvShape& s) {
  if (loops_forced()) return Way::product;
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

int64_t conv_output_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t window = checked_add(checked_multiply(dilation, kernel - 1), 1);
  const int64_t room = checked_add(checked_add(size, checked_multiply(2, padding)), -window);
  return room < 0 ? 0 : room / stride + 1;
}

Strides channels_last_strides(const Shape& s) { return {s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]}; }

bool is_channels_last(const Operand& x) {
  const Strides wanted = channels_last_strides(x.shape());
  for (int64_t i = 0; i < 4; ++i)
    if (x.size(i) != 1 && x.stride(i) != wanted[static_cast<size_t>(i)]) return false;
  return true;
}

void conv2d(const Operand& x, const Operand& weight, const Operand* bias, const Operand& out,
            const ConvParams& params) {
  const ConvShape s = shape_of(x, weight, out, params);
  visit_floating(out.dtype, [&]<class S>() {
    using T = Compute<S>;
    if (s.is_empty()) return fill<S>(out, bias);
    const ImageIn<S, T> in(x);
    const WeightIn<S, T> w(weight);
    ImageOut<S, T> result(out);
    Scratch<T> dense_bias(bias != nullptr ? s.filters : 0);
    if (bias != nullptr)
      for (int64_t o = 0; o < s.filters; ++o) dense_bias.data()[o] = bias->data<S>()[o * bias->stride(0)];
    forward<T>(s, in.data(), w.data(), w.strides(), dense_bias.data(), result.data());
    result.finish();
  });
}

void conv2d_backward_data(const Operand& grad, const Operand& weight, const Operand& grad_x, const ConvParams& params) {
  const ConvShape s = shape_of(grad_x, weight, grad, params);
  visit_floating(grad_x.dtype, [&]<class S>() {
    using T = Compute<S>;
    if (s.is_empty()) return fill<S>(grad_x, nullptr);
    const ImageIn<S, T> in(grad);
    const WeightIn<S, T> w(weight);
    ImageOut<S, T> result(grad_x);
    backward_data<T>(s, in.data(), w.data(), w.strides(), result.data());
    result.finish();
  });
}

void conv2d_backward_weights(const Operand& x, const Operand& grad, const Operand& grad_weight,
                             const ConvParams& params) {
  const ConvShape s = shape_of(x, grad_weight, grad, params);
  visit_floating(grad_weight.dtype, [&]<class S>() {
    using T = Compute<S>;
    if (s.is_empty()) return fill<S>(grad_weight, nullptr);
    const ImageIn<S, T> in(x), g(grad);
    const bool direct = std::is_same_v<S, T> && grad_weight.view->is_dense();
    Scratch<T> copy(direct ? 0 : grad_weight.numel());
    const Strides at = direct ? grad_weight.strides() : row_major_strides(grad_weight.shape());
    const WeightStrides strides = weight_strides(grad_weight.shape(), at);
    T* result = direct ? reinterpret_cast<T*>(grad_weight.data<S>()) : copy.data();
    backward_weights<T>(s, in.data(), g.data(), result, strides);
    if (!direct) copy_image<T, S>(result, at, grad_weight.data<S>(), grad_weight.strides(), grad_weight.shape());
  });
}

}  // namespace weft::kernels::cpu

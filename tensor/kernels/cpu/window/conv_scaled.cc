#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/channel_loop.h"
#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/window/conv_choice.h"
#include "tensor/kernels/cpu/window/conv_operands.h"
#include "tensor/kernels/cpu/window/onednn_conv.h"
#include "tensor/ops/conv.h"

namespace weft::kernels::cpu {
namespace {

/// relu(y scale + shift + residual) of y and, where kInputs is 2, a residual.
template <int kInputs, bool kRelu> struct Finish {
  template <class V> static V apply(const std::array<V, kInputs>& x, const std::array<V, kChannelCoefficients>& c) {
    V y = x[0] * c[0] + c[1];
    if constexpr (kInputs == 2) y += x[1];
    return kRelu && y < V{} ? V{} : y;
  }
};

/// Scale, shift, residual and relu applied to y in place, after convolutions whose kernels do not fuse them.
template <class T>
void finish(const Operand& y, const Operand& scale, const Operand& shift, const Operand& residual, bool relu) {
  using C = Compute<T>;
  const int64_t filters = y.size(1);
  const SmallOperand<C> factor(scale, filters, 1), term(shift, filters, 0);
  const ChannelCoefficients<C> c = {factor.data(), term.data(), term.data(), term.data(), term.data()};
  if (residual.defined())
    relu ? channel_loop<Finish<2, true>, 2, T>({y, residual, y}, c)
         : channel_loop<Finish<2, false>, 2, T>({y, residual, y}, c);
  else
    relu ? channel_loop<Finish<1, true>, 1, T>({y, y}, c) : channel_loop<Finish<1, false>, 1, T>({y, y}, c);
}

void check_packed(const Operand& packed, int64_t size) {
  if (packed.numel() != size)
    throw ShapeError(text("the prepacked weight must have shape [", size, "], not ", packed.shape()));
}

/// y = conv(x, weight) + bias in oneDNN, with its weight prepacked. False where it runs in another way.
bool library_conv(const ConvShape& s, const Operand& x, const Operand& weight, const Operand& bias,
                  const onednn::PackedWeight& packed, const Operand& y) {
  if (takes_winograd(s, ConvDirection::forward) || choose_kernel(s, ConvDirection::forward) != ConvKernel::onednn)
    return false;
  const ImageIn<float, float> in(x);
  const WeightIn<float, float> w(weight);
  const SmallOperand<float> term(bias, s.filters, 0);
  ImageOut<float, float> result(y);
  if (!onednn::conv_forward<float>(s, in.data(), w.data(), w.strides(), bias.defined() ? term.data() : nullptr,
                                   result.data(), packed))
    return false;
  result.finish();
  return true;
}

/// Whether bringing the weight into oneDNN's layout takes a part of the convolution's time that counts: 0.7 ns an
/// element, where a pixel of the result takes 0.01 ns.
bool packs_library_weight(const ConvShape& s) {
  return s.out_pixels() < 4096 && choose_kernel(s, ConvDirection::forward) == ConvKernel::onednn;
}

ConvShape shape_for(const Shape& images, const Operand& weight, const ConvOptions& options) {
  const View in = View::contiguous(images);
  const Operand x{nullptr, &in};
  const View results = View::contiguous(op::Conv{options}.infer(x, weight, {}).view.shape());
  const FiveAxes x5(x), weight5(weight), out5({nullptr, &results});
  return shape_of(*x5, *weight5, *out5, options);
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// In f32, Winograd's output transform applies scale, shift and residual as well; other kernels need a second pass over
/// the result. A weight that is prepacked for oneDNN is not reordered again.
void op::ConvScaled::cpu(const Operand& x, const Operand& weight, const Operand& scale, const Operand& shift,
                         const Operand& residual, const Operand& packed, const Operand& out) const {
  const FiveAxes x5(x), weight5(weight), out5(out);
  const ConvShape s = shape_of(*x5, *weight5, *out5, options);
  const bool in_f32 = out.dtype == DType::f32 && !s.is_empty(), is_packed = packed.defined() && packed.numel() > 0;
  const bool has_packed = is_packed && packed_layout == 0;
  ConvOptions rest = options;
  if (in_f32 && takes_winograd(s, ConvDirection::forward, has_packed)) {
    if (has_packed) check_packed(packed, winograd_weight_size(s));
    const ImageIn<float, float> in(*x5);
    const WeightIn<float, float> w(*weight5);
    const SmallOperand<float> factor(scale, s.filters, 1), term(shift, s.filters, 0);
    std::optional<FiveAxes> residual5;
    std::optional<ImageIn<float, float>> added;
    if (residual.defined()) added.emplace(*residual5.emplace(residual));
    ImageOut<float, float> result(*out5);
    const ConvFinish finish{factor.data(), term.data(), added ? added->data() : nullptr, relu};
    if (winograd_conv(s, in.data(), w.data(), w.strides(), has_packed ? packed.data<float>() : nullptr, finish,
                      result.data()))
      return result.finish();
    rest.algorithm = Convolution::direct;  // a sum is not finite
  }
  const bool biased = !scale.defined();
  const Operand bias = biased ? shift : Operand{};
  if (!in_f32 || !is_packed || packed_layout == 0 ||
      !library_conv(s, *x5, *weight5, bias, {packed.data<float>(), packed.numel(), packed_layout}, *out5))
    Conv{rest}.cpu(x, weight, bias, out);
  if (biased && !residual.defined() && !relu) return;
  visit_floating(out.dtype, [&]<class T>() { finish<T>(out, scale, biased ? Operand{} : shift, residual, relu); });
}

op::ConvPrepack op::ConvPrepack::for_images(const ConvOptions& options, const Shape& images, const Operand& weight) {
  ConvPrepack op{options, images};
  if (weight.dtype != DType::f32 || options.axes != 2) return op;
  const ConvShape s = shape_for(images, weight, options);
  if (s.is_empty()) return op;
  if (takes_winograd(s, ConvDirection::forward, true)) {
    op.elements = winograd_weight_size(s);
  } else if (packs_library_weight(s) && weight.view->is_dense()) {
    const FiveAxes weight5(weight);
    const auto [elements, id] = onednn::weight_layout(s, weight_strides(weight5->shape(), weight5->strides()));
    op.elements = elements, op.layout = id;
  }
  return op;
}

void op::ConvPrepack::cpu(const Operand& weight, const Operand& out) const {
  if (out.numel() == 0) return;
  const ConvShape s = shape_for(images, weight, options);
  const FiveAxes weight5(weight);
  const WeightIn<float, float> w(*weight5);
  if (layout != 0) {
    const auto [size, id] = onednn::weight_layout(s, w.strides());
    if (id != layout) throw ShapeError(text("the layout ", layout, " is not that of such images: ", id));
    check_packed(out, size);
    return onednn::pack_weight(s, w.data(), w.strides(), out.data<float>());
  }
  check_packed(out, winograd_weight_size(s));
  winograd_weight(s, w.data(), w.strides(), out.data<float>());
}

}  // namespace weft

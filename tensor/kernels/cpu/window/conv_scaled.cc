#include "tensor/core/error.h"
#include "tensor/kernels/cpu/base/dispatch.h"
#include "tensor/kernels/cpu/loops/channel_loop.h"
#include "tensor/kernels/cpu/loops/small_operand.h"
#include "tensor/kernels/cpu/window/conv_operands.h"
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

/// y in place, for convolutions that know nothing of what follows them.
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

void check_kept(const Operand& kept, const ConvShape& s) {
  const int64_t size = winograd_weight_size(s);
  if (kept.numel() != size) throw ShapeError(text("the kept weight must have shape [", size, "], not ", kept.shape()));
}

}  // namespace
}  // namespace weft::kernels::cpu

namespace weft {
using namespace kernels::cpu;

/// f32 that takes Winograd's filtering is finished on the way out of it; all else in a second pass over the result.
void op::ConvScaled::cpu(const Operand& x, const Operand& weight, const Operand& scale, const Operand& shift,
                         const Operand& residual, const Operand& kept, const Operand& out) const {
  const FiveAxes x5(x), weight5(weight), out5(out);
  const ConvShape s = shape_of(*x5, *weight5, *out5, options);
  const bool has_kept = kept.defined() && kept.numel() > 0;
  ConvOptions rest = options;
  if (out.dtype == DType::f32 && !s.is_empty() && takes_winograd(s, ConvDirection::forward, has_kept)) {
    if (has_kept) check_kept(kept, s);
    const ImageIn<float, float> in(*x5);
    const WeightIn<float, float> w(*weight5);
    const SmallOperand<float> factor(scale, s.filters, 1), term(shift, s.filters, 0);
    std::optional<FiveAxes> residual5;
    std::optional<ImageIn<float, float>> added;
    if (residual.defined()) added.emplace(*residual5.emplace(residual));
    ImageOut<float, float> result(*out5);
    const ConvFinish finish{factor.data(), term.data(), added ? added->data() : nullptr, relu};
    if (winograd_conv(s, in.data(), w.data(), w.strides(), has_kept ? kept.data<float>() : nullptr, finish,
                      result.data()))
      return result.finish();
    rest.algorithm = Convolution::direct;  // a sum is not finite
  }
  const bool biased = !scale.defined();
  Conv{rest}.cpu(x, weight, biased ? shift : Operand{}, out);
  if (biased && !residual.defined() && !relu) return;
  visit_floating(out.dtype, [&]<class T>() { finish<T>(out, scale, biased ? Operand{} : shift, residual, relu); });
}

int64_t op::ConvKeptWeight::size(const ConvOptions& options, const Shape& x, const Operand& weight) {
  if (weight.dtype != DType::f32 || options.axes != 2) return 0;
  const View images = View::contiguous(x);
  const Operand in{nullptr, &images};
  const View results = View::contiguous(Conv{options}.infer(in, weight, {}).view.shape());
  const FiveAxes x5(in), weight5(weight), out5({nullptr, &results});
  const ConvShape s = shape_of(*x5, *weight5, *out5, options);
  return !s.is_empty() && takes_winograd(s, ConvDirection::forward, true) ? winograd_weight_size(s) : 0;
}

void op::ConvKeptWeight::cpu(const Operand& weight, const Operand& out) const {
  if (out.numel() == 0) return;
  const FiveAxes weight5(weight);
  const WeightIn<float, float> w(*weight5);
  const ConvShape s{options, 0, weight.size(1) * options.groups, 0, weight.size(0), {1, weight.size(2), weight.size(3)},
                    0};
  check_kept(out, s);
  winograd_weight(s, w.data(), w.strides(), out.data<float>());
}

}  // namespace weft

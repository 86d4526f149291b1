#include "nn/layers/conv_norm.h"

#include <utility>

namespace weft::nn {

bool is_one_op(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x) {
  return !norm.of_batch() && runs_unseen(x) && x.rank() == 4 && x.dtype() == f32 && conv.weight().dtype() == f32 &&
         norm.running_mean().dtype() == f32 && norm.running_mean().size(0) == conv.weight().size(0);
}

Tensor one_conv_norm(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x, const Tensor& residual,
                     bool then_relu) {
  return in_layer(
      conv,
      [&](const Tensor& given) {
        auto [scale, shift] = norm.scale_and_shift(f32);
        return conv.forward_scaled(given, {std::move(scale), std::move(shift), residual, then_relu});
      },
      x);
}

Tensor conv_norm(const Conv2d& conv, const BatchNorm2d& norm, const Tensor& x, bool then_relu) {
  if (is_one_op(conv, norm, x)) return one_conv_norm(conv, norm, x, {}, then_relu);
  const Tensor y = conv(x);
  return then_relu ? norm.forward_relu(y) : norm(y);
}

}  // namespace weft::nn

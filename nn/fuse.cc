#include "nn/fuse.h"

#include "autograd/grad_mode.h"
#include "nn/module/clone.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/view.h"

namespace weft::nn {

detail::FoldedNorm detail::fold_norm(const Tensor& weight, const Tensor& bias, const BatchNorm& norm, int64_t axis,
                                     int64_t groups) {
  NoGrad guard;
  if (norm.of_batch())
    throw Error("the batch norm uses the statistics of its batches; call eval() first, and track running statistics");
  const auto [scale, shift] = norm.scale_and_shift(f64);
  const int64_t channels = axis == 0 ? weight.size(0) : weight.size(axis) * groups;
  if (scale.numel() != channels)
    throw ShapeError(text("the batch norm has ", scale.numel(), " channels, the layer ", channels));
  // (groups, in, out, rest), where `groups` and `in` are 1 if the outputs come first.
  const Shape parts =
      axis == 0 ? Shape{1, 1, channels, -1} : Shape{groups, weight.size(0) / groups, weight.size(1), -1};
  const Tensor split = reshape(weight.to(f64), parts);
  const Tensor folded = split * reshape(scale, {split.size(0), 1, split.size(2), 1});
  return {reshape(folded, weight.shape()).to(weight.dtype()),
          (bias.defined() ? bias.to(f64) * scale + shift : shift).to(weight.dtype())};
}

void detail::take_folded(const Module& from, const FoldedNorm& folded, Module& layer) {
  if (!from.parameter_dict().contains("weight"))
    throw Error(text("the weight of ", from.type_name(), " is computed in each call; give what its plain() returns"));
  layer.load_state_dict({{"weight", folded.weight}, {"bias", folded.bias}}, {.assign = true});
  layer.train(from.is_training());
  layer.requires_grad_(from.get_parameter("weight").requires_grad());
}

Linear fuse_linear_bn(const Linear& linear, const BatchNorm& norm) {
  const ErrorFrame frame("fuse_linear_bn");
  const detail::FoldedNorm folded = detail::fold_norm(linear.weight(), linear.bias(), norm);
  const detail::OverwrittenScope scope;
  Linear out(linear.in_features(), linear.out_features());
  detail::take_folded(linear, folded, out);
  return out;
}

}  // namespace weft::nn

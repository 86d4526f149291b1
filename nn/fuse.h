// Folding a batch norm into the layer before it, for inference.
#pragma once

#include <concepts>

#include "nn/layers/batch_norm.h"
#include "nn/layers/conv.h"
#include "nn/layers/linear.h"

namespace weft::nn {

namespace detail {

/// The weight and bias with which a layer computes what `norm` makes of its output.
struct FoldedNorm {
  Tensor weight, bias;  // in the weight's dtype
};
/// `weight` has its output channels at `axis`: 0, or 1 of each group for a transposed convolution. Error if the norm
/// uses the statistics of its batches, ShapeError for another number of channels.
FoldedNorm fold_norm(const Tensor& weight, const Tensor& bias, const BatchNorm& norm, int64_t axis = 0,
                     int64_t groups = 1);

/// Gives `layer` the values of `folded`. Its mode, and whether it is trained, are those of `from`. Error if the weight
/// of `from` is computed.
void take_folded(const Module& from, const FoldedNorm& folded, Module& layer);
}  // namespace detail

/// The convolution that computes norm(conv(x)) of a norm in evaluation mode, as torch.nn.utils.fusion.fuse_conv_bn_eval
/// does (its results differ by rounding):
///   nn::Conv2d fused = nn::fuse_conv_bn(net.conv, net.norm);
/// It has a bias, and parameters of its own. Error if the norm uses the statistics of its batches, ShapeError if it is
/// of another number of channels. For a layer with a computed weight, such as a weight_norm(), pass its plain(). (A
/// Sequential in evaluation without history fuses a Conv2d and its BatchNorm2d by itself.)
template <class Conv>
  requires std::derived_from<Conv, ConvLayer<Conv>> Conv fuse_conv_bn(const Conv& conv, const BatchNorm& norm) {
    const ErrorFrame frame("fuse_conv_bn");
    auto options = conv.options();
    constexpr bool kTransposed = requires { options.output_padding; };
    const detail::FoldedNorm folded =
        detail::fold_norm(conv.weight(), conv.bias(), norm, kTransposed ? 1 : 0, options.groups);
    options.bias = true;
    const detail::OverwrittenScope scope;
    Conv out(options);
    detail::take_folded(conv, folded, out);
    return out;
  }

/// The same for a linear layer and the norm of its features (PyTorch's fuse_linear_bn_eval).
Linear fuse_linear_bn(const Linear& linear, const BatchNorm& norm);

}  // namespace weft::nn

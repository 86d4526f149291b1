#include "nn/layers/residual.h"

#include "nn/layers/conv_norm.h"
#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/unary.h"

namespace weft::nn {
namespace {

const BasicBlockOptions& checked(const BasicBlockOptions& o) {
  ErrorFrame frame("BasicBlock");
  detail::check_positive("in_channels", o.in_channels);
  detail::check_positive("out_channels", o.out_channels);
  detail::check_positive("stride", o.stride);
  return o;
}

Conv2d convolution(int64_t in, int64_t out, int64_t kernel, int64_t stride, DType dtype) {
  return Conv2d({.in_channels = in,
                 .out_channels = out,
                 .kernel_size = kernel,
                 .stride = stride,
                 .padding = kernel / 2,
                 .bias = false,
                 .dtype = dtype});
}

BatchNorm2d norm(int64_t features, DType dtype) { return BatchNorm2d({.num_features = features, .dtype = dtype}); }

}  // namespace

BasicBlock::BasicBlock(const BasicBlockOptions& o)
    : options_(checked(o)),
      conv1_(register_module("conv1", convolution(o.in_channels, o.out_channels, 3, o.stride, o.dtype))),
      bn1_(register_module("bn1", norm(o.out_channels, o.dtype))),
      conv2_(register_module("conv2", convolution(o.out_channels, o.out_channels, 3, 1, o.dtype))),
      bn2_(register_module("bn2", norm(o.out_channels, o.dtype))) {
  if (o.stride == 1 && o.in_channels == o.out_channels) return;
  downsample_ = register_module(
      "downsample",
      Sequential(convolution(o.in_channels, o.out_channels, 1, o.stride, o.dtype), norm(o.out_channels, o.dtype)));
}

Tensor BasicBlock::forward(const Tensor& x) const {
  const Tensor y = conv_norm(conv1_, bn1_, x, true);
  if (is_one_op(conv2_, bn2_, y)) return one_conv_norm(conv2_, bn2_, y, downsample_ ? (*downsample_)(x) : x, true);
  const Tensor z = bn2_(conv2_(y));
  return relu(z + (downsample_ ? (*downsample_)(x) : x));
}

}  // namespace weft::nn

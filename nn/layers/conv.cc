#include "nn/layers/conv.h"

#include "nn/init.h"
#include "nn/layers/options.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/view.h"

namespace weft::nn {
namespace {

void check(const Conv2dOptions& o) {
  detail::check_positive("in_channels", o.in_channels);
  detail::check_positive("out_channels", o.out_channels);
  detail::check_positive("kernel_size", o.kernel_size);
  detail::check_positive("stride", o.stride);
  detail::check_not_negative("padding", o.padding);
  detail::check_positive("dilation", o.dilation);
  detail::check_positive("groups", o.groups);
}

}  // namespace

Conv2d::Conv2d(const Conv2dOptions& options)
    : options_{options.stride, options.padding, options.dilation, options.groups} {
  Frame frame("Conv2d");
  check(options);
  const int64_t groups = options.groups;
  if (options.in_channels % groups != 0 || options.out_channels % groups != 0)
    throw ShapeError(
        text(options.in_channels, " and ", options.out_channels, " channels do not divide into ", groups, " groups"));
  const Pair kernel = options.kernel_size;
  // (O, C, kh, kw) with O innermost in memory: each tap is a matrix that products take as it is, and libraries reorder
  // it in whole registers.
  const Tensor memory =
      empty({kernel.height, kernel.width, options.in_channels / groups, options.out_channels}, options.dtype);
  weight_ = register_parameter("weight", memory.permute({3, 2, 0, 1}));
  if (options.bias) bias_ = register_parameter("bias", empty({options.out_channels}, options.dtype));
  init::layer_default(weight_, bias_);
}

Tensor Conv2d::forward(const Tensor& x) const { return conv2d(x, weight_, bias_, options_); }

}  // namespace weft::nn

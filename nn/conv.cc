#include "nn/conv.h"

#include "nn/init.h"
#include "tensor/ops/fill.h"

namespace weft::nn {

Conv2d::Conv2d(const Conv2dOptions& options)
    : options_{options.stride, options.padding, options.dilation, options.groups} {
  Frame frame("Conv2d");
  const int64_t groups = options.groups;
  if (groups < 1 || options.in_channels % groups != 0 || options.out_channels % groups != 0)
    throw ShapeError(
        text(options.in_channels, " and ", options.out_channels, " channels do not divide into ", groups, " groups"));
  const Pair kernel = options.kernel_size;
  weight_ = register_parameter(
      "weight",
      empty({options.out_channels, options.in_channels / groups, kernel.height, kernel.width}, options.dtype));
  if (options.bias) bias_ = register_parameter("bias", empty({options.out_channels}, options.dtype));
  init::layer_default(weight_, bias_);
}

Tensor Conv2d::forward(const Tensor& x) const { return conv2d(x, weight_, bias_, options_); }

}  // namespace weft::nn

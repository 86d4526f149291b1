#include "tensor/functions/pool.h"

#include <algorithm>

#include "tensor/adjoints/pool.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/pool.h"

namespace weft {
namespace {

/// pool(x), where x may be an image without a batch axis.
template <class Pool>
Tensor for_images(const Tensor& x, const Pool& pool) {
  return x.rank() == 3 ? squeeze(pool(unsqueeze(x, 0)), 0) : pool(x);
}

/// How many of the elements of each window along one axis lie in an input of `size`; at least 1.
std::vector<double> counts_along(int64_t size, int64_t windows, int64_t kernel, int64_t stride, int64_t padding) {
  std::vector<double> counts;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t begin = i * stride - padding;
    const int64_t inside = std::min(begin + kernel, size) - std::max<int64_t>(begin, 0);
    counts.push_back(static_cast<double>(std::max<int64_t>(inside, 1)));
  }
  return counts;
}

/// `y` times (H, W) of the windows: what turns their means with padding counted into means without.
Tensor without_padding(const Tensor& y, const Shape& input, const Pool2dOptions& o) {
  const Shape out = pooled_shape(input, o);
  const Pair kernel = o.kernel_size, step = o.step();
  const auto rows = counts_along(input[2], out[2], kernel.height, step.height, o.padding.height);
  const auto columns = counts_along(input[3], out[3], kernel.width, step.width, o.padding.width);
  std::vector<double> scale;
  for (double row : rows)
    for (double column : columns) scale.push_back(static_cast<double>(kernel.height * kernel.width) / (row * column));
  return y * Tensor::from<double>(scale).view({out[2], out[3]}).to(y.dtype()).to(y.device());
}

/// The op itself counts padding.
Pool2dOptions counted(Pool2dOptions options) {
  options.count_include_pad = true;
  return options;
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  Frame frame("max_pool2d", x);
  return for_images(x, [&](const Tensor& images) { return dispatch::apply(op::MaxPool2d{options}, images)[0]; });
}

Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
  Frame frame("avg_pool2d", x);
  if (!(options.dilation == Pair(1))) throw Error("dilation is for max_pool2d only");
  return for_images(x, [&](const Tensor& images) {
    const Tensor y = dispatch::apply(op::AvgPool2d{counted(options)}, images);
    return options.count_include_pad ? y : without_padding(y, images.shape(), options);
  });
}

namespace adjoint {

Tensor max_pool2d_backward(const Tensor& g, const Tensor& places, const Shape& input_shape,
                           const Pool2dOptions& options) {
  Frame frame("max_pool2d_backward", g, places);
  return dispatch::apply(op::MaxPool2dBackward{options, input_shape}, g, places);
}

Tensor max_pool2d_gather(const Tensor& x, const Tensor& places, const Pool2dOptions& options) {
  Frame frame("max_pool2d_gather", x, places);
  return dispatch::apply(op::MaxPool2dGather{options}, x, places);
}

Tensor avg_pool2d_backward(const Tensor& g, const Shape& input_shape, const Pool2dOptions& options) {
  Frame frame("avg_pool2d_backward", g);
  const Tensor share = options.count_include_pad ? g : without_padding(g, input_shape, options);
  return dispatch::apply(op::AvgPool2dBackward{counted(options), input_shape}, share);
}

}  // namespace adjoint
}  // namespace weft

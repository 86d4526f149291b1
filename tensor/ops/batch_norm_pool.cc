#include "tensor/ops/batch_norm_pool.h"

#include "tensor/ops/batch_norm.h"
#include "tensor/ops/window.h"

namespace weft {

bool batch_norm_pool_applies(const Operand& x, const Pool2dOptions& o) {
  if (x.rank() != 4 || x.numel() == 0 || x.view->has_mask() || !is_floating(x.dtype)) return false;
  if (o.divisor_override || !o.count_include_pad) return false;  // max_pool2d() says that these are for means
  // Indices are bytes, and 255 stands for none.
  const int64_t height = o.kernel_size.height, width = o.kernel_size.width;
  if (height < 1 || height > 254 || width < 1 || width > 254 || height * width > 254) return false;
  return (x.size(1) == 1 || x.stride(1) == 1) && windows_tile(o, 0, x.size(2), x.size(2) / height) &&
         windows_tile(o, 1, x.size(3), x.size(3) / width);
}

namespace op {
namespace {

void check_applies(const Operand& x, const Pool2dOptions& options) {
  if (!batch_norm_pool_applies(x, options))
    throw ShapeError(text("x of shape ", x.shape(), " with strides ", x.strides(),
                          " is not channels-last with windows that tile it; use batch_norm_relu() and max_pool2d()"));
}

}  // namespace

std::array<Spec, 5> BatchNormReluMaxPool2d::infer(const Operand& x, const Operand& weight, const Operand& bias) const {
  const Spec channels = spec_of(check_batch(x, {&weight, &bias}, eps), statistics_dtype(x.dtype));
  check_applies(x, options);
  const View view = channels_last_view(pooled_shape(x.shape(), options));
  return {Spec{view, x.dtype}, channels, channels, Spec{view, u8}, channels};
}

std::array<Spec, 3> BatchNormReluMaxPool2dBackward::infer(const Operand& g, const Operand& indices, const Operand& x,
                                                          const Operand& weight, const Operand& mean,
                                                          const Operand& rstd) const {
  const Spec channels = spec_of(check_channels(x, {&weight, &mean, &rstd}), gradient_dtype(weight, x));
  check_applies(x, options);
  check_dtype(indices, indices.dtype == u8, "indices, u8");
  check_same_shape(g, indices);
  check_gradient(g, pooled_shape(x.shape(), options));
  if (indices.size(1) != 1 && indices.stride(1) != 1)
    throw ShapeError(text("indices with strides ", indices.strides(), " are not channels-last"));
  return {Spec{channels_last_view(x.shape()), x.dtype}, channels, channels};
}

}  // namespace op
}  // namespace weft

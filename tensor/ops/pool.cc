#include "tensor/ops/pool.h"

#include <algorithm>

#include "tensor/kernels/cpu/window/conv.h"
#include "tensor/op.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/copy.h"
#include "tensor/ops/pool_params.h"

namespace weft {
namespace cpu = kernels::cpu;

namespace {

Shape output_shape(const Shape& x, const Pool2dOptions& options) {
  if (x.size() != 4) throw ShapeError(text("x must be (N, C, H, W), not ", x));
  const cpu::PoolParams p = params_of(options);
  Shape out = x;
  for (size_t i = 0; i < 2; ++i) {
    if (p.kernel[i] < 1) throw Error(text("kernel size ", p.kernel[i], " must be at least 1"));
    if (p.stride[i] < 1) throw Error(text("stride ", p.stride[i], " must be at least 1"));
    if (p.dilation[i] < 1) throw Error(text("dilation ", p.dilation[i], " must be at least 1"));
    if (p.padding[i] < 0 || p.padding[i] > p.kernel[i] / 2)
      throw Error(text("padding ", p.padding[i], " must lie between 0 and half the kernel size ", p.kernel[i]));
    out[2 + i] = cpu::conv_output_size(x[2 + i], p.kernel[i], p.stride[i], p.padding[i], p.dilation[i]);
    if (out[2 + i] < 1) throw ShapeError(text("the window of ", p.kernel[i], " is larger than the padded input ", x));
  }
  return out;
}

View channels_last(const Shape& shape) { return View::create(shape, cpu::channels_last_strides(shape)); }

/// Pooling keeps the memory order of what it pools.
View like(const Tensor& x, const Shape& shape) {
  return x.is_contiguous() ? View::contiguous(shape) : channels_last(shape);
}

void check_gradient(const Tensor& g, const Shape& expected) {
  check_dtype(g, is_floating(g.dtype()), "floating dtypes");
  if (g.shape() != expected) throw ShapeError(text("the gradient must have shape ", expected, ", not ", g.shape()));
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

/// (H, W) of the windows: what turns their means with padding counted into means without.
Tensor without_padding(const Shape& input, const Pool2dOptions& options, DType dtype) {
  const Shape out = output_shape(input, options);
  const cpu::PoolParams p = params_of(options);
  const auto rows = counts_along(input[2], out[2], p.kernel[0], p.stride[0], p.padding[0]);
  const auto columns = counts_along(input[3], out[3], p.kernel[1], p.stride[1], p.padding[1]);
  std::vector<double> scale;
  for (double row : rows)
    for (double column : columns) scale.push_back(static_cast<double>(p.kernel[0] * p.kernel[1]) / (row * column));
  return Tensor::from<double>(scale).view({out[2], out[3]}).to(dtype);
}

}  // namespace

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  Frame frame("max_pool2d", x);
  return apply(op::MaxPool2d{options}, x)[0];
}

Tensor max_pool2d_backward(const Tensor& g, const Tensor& places, const Shape& input_shape,
                           const Pool2dOptions& options) {
  Frame frame("max_pool2d_backward", g, places);
  return apply(op::MaxPool2dBackward{options, input_shape}, g, places);
}

Tensor max_pool2d_gather(const Tensor& x, const Tensor& places, const Pool2dOptions& options) {
  Frame frame("max_pool2d_gather", x, places);
  return apply(op::MaxPool2dGather{options}, x, places);
}

Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
  Frame frame("avg_pool2d", x);
  if (!(options.dilation == Pair(1))) throw Error("dilation is for max_pool2d only");
  if (options.count_include_pad) return apply(op::AvgPool2d{options}, x);
  Pool2dOptions counted = options;
  counted.count_include_pad = true;
  const Tensor y = apply(op::AvgPool2d{counted}, x);
  return y * without_padding(x.shape(), options, x.dtype());
}

Tensor avg_pool2d_backward(const Tensor& g, const Shape& input_shape, const Pool2dOptions& options) {
  Frame frame("avg_pool2d_backward", g);
  if (!options.count_include_pad) {
    Pool2dOptions counted = options;
    counted.count_include_pad = true;
    return apply(op::AvgPool2dBackward{counted, input_shape}, g * without_padding(input_shape, options, g.dtype()));
  }
  return apply(op::AvgPool2dBackward{options, input_shape}, g);
}

std::string attribute_text(const Pool2dOptions& o) {
  return text("{kernel_size=", attribute_text(o.kernel_size),
              ", stride=", attribute_text(o.stride.value_or(o.kernel_size)), ", padding=", attribute_text(o.padding),
              ", dilation=", attribute_text(o.dilation), "}");
}

namespace op {

std::array<Spec, 2> MaxPool2d::infer(const Tensor& x) const {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes");
  const View view = like(x, output_shape(x.shape(), options));
  return {Spec{view, x.dtype()}, Spec{view, cpu::max_pool2d_index_dtype(params_of(options))}};
}
void MaxPool2d::run(const Tensor& x, std::array<Tensor, 2>& out) const {
  const cpu::Operand places = operand(out[1]);
  cpu::max_pool2d(operand(x), operand(out[0]), &places, params_of(options));
}

Spec MaxPool2dBackward::infer(const Tensor& g, const Tensor& places) const {
  check_gradient(g, output_shape(shape, options));
  check_same_shape(g, places);
  return {like(places, shape), g.dtype()};
}
void MaxPool2dBackward::run(const Tensor& g, const Tensor& places, Tensor& out) const {
  cpu::max_pool2d_backward(operand(g), operand(places), operand(out), params_of(options));
}

Spec MaxPool2dGather::infer(const Tensor& x, const Tensor& places) const {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes");
  const Shape shape = output_shape(x.shape(), options);
  if (places.shape() != shape) throw ShapeError(text("the places must have shape ", shape, ", not ", places.shape()));
  return {like(x, shape), x.dtype()};
}
void MaxPool2dGather::run(const Tensor& x, const Tensor& places, Tensor& out) const {
  cpu::max_pool2d_gather(operand(x), operand(places), operand(out), params_of(options));
}

Spec AvgPool2d::infer(const Tensor& x) const {
  check_dtype(x, is_floating(x.dtype()), "floating dtypes");
  return {like(x, output_shape(x.shape(), options)), x.dtype()};
}
void AvgPool2d::run(const Tensor& x, Tensor& out) const {
  cpu::avg_pool2d(operand(x), operand(out), params_of(options));
}

Spec AvgPool2dBackward::infer(const Tensor& g) const {
  check_gradient(g, output_shape(shape, options));
  return {like(g, shape), g.dtype()};
}
void AvgPool2dBackward::run(const Tensor& g, Tensor& out) const {
  cpu::avg_pool2d_backward(operand(g), operand(out), params_of(options));
}

}  // namespace op
}  // namespace weft

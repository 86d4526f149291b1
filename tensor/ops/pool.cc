#include "tensor/ops/pool.h"

#include <limits>

#include "tensor/ops/window.h"

namespace weft {

std::string attribute_text(const Pool2dOptions& o) {
  return text("{kernel_size=", attribute_text(o.kernel_size), ", stride=", attribute_text(o.step()),
              ", padding=", attribute_text(o.padding), ", dilation=", attribute_text(o.dilation),
              ", ceil_mode=", o.ceil_mode ? "true" : "false", "}");
}

Shape pooled_shape(const Shape& x, const Pool2dOptions& o) {
  if (x.size() != 4) throw ShapeError(text("x must be ", spatial_shapes(2), ", not ", x));
  Shape out = x;
  for (size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<int64_t>(i);
    const int64_t kernel = o.kernel_size[axis], stride = o.step()[axis], padding = o.padding[axis],
                  dilation = o.dilation[axis];
    check_window(kernel, stride, dilation);
    if (padding < 0 || padding > kernel / 2)
      throw Error(text("padding ", padding, " must lie between 0 and half the kernel size ", kernel));
    out[2 + i] = pool_output_size(x[2 + i], kernel, stride, padding, dilation, o.ceil_mode);
    if (out[2 + i] < 1) throw_window_too_large(kernel, dilation, x[2 + i], padding);
  }
  (void)checked_multiply(o.kernel_size.height, o.kernel_size.width);  // means divide by it
  return out;
}

DType max_pool2d_index_dtype(const Pool2dOptions& o) {
  const int64_t elements = checked_multiply(o.kernel_size.height, o.kernel_size.width);
  if (elements > std::numeric_limits<int32_t>::max())
    throw ShapeError(text("the windows of ", attribute_text(o.kernel_size), " have ", elements,
                          " elements, more than 32 bits can count; pool height and width one after the other"));
  return elements <= std::numeric_limits<uint8_t>::max() ? u8 : i32;
}

/// A window that begins and ends within pixels has two pixels more than the quotient.
MaxWindows::MaxWindows(const Shape& x, const Size2& result) : shares(result) {
  const auto largest = [](int64_t in, int64_t out) { return in / out + (in % out == 0 ? 0 : 2); };
  options.kernel_size = {largest(x[2], result.height), largest(x[3], result.width)};
}

std::vector<int64_t> MaxWindows::starts(int axis, int64_t inputs, int64_t outputs) const {
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < outputs; ++i)
    starts.push_back(is_adaptive() ? shared_range(i, outputs, inputs).begin
                                   : i * options.step()[axis] - options.padding[axis]);
  return starts;
}

std::string attribute_text(const MaxWindows& w) {
  return w.is_adaptive() ? text("adaptive to ", attribute_text(w.shares)) : attribute_text(w.options);
}

Shape pooled_shape(const Shape& x, const MaxWindows& w) {
  return w.is_adaptive() ? Shape{x[0], x[1], w.shares.height, w.shares.width} : pooled_shape(x, w.options);
}

namespace op {
namespace {

/// Pooling keeps the memory order of what it pools.
View like(const Operand& x, const Shape& shape) {
  return x.view->is_contiguous() ? View::contiguous(shape) : channels_last_view(shape);
}

void check_indices(const Operand& indices, const Shape& expected) {
  check_dtype(indices, indices.dtype == u8 || indices.dtype == i32, "indices of max_pool2d, u8 or i32");
  if (indices.shape() != expected)
    throw ShapeError(text("the indices must have shape ", expected, ", not ", indices.shape()));
}

}  // namespace

std::array<Spec, 2> MaxPool2d::infer(const Operand& x) const {
  const View view = like(x, pooled_shape(x.shape(), windows));
  const DType index = max_pool2d_index_dtype(windows.options);
  return {Spec{view, x.dtype}, Spec{with_indices ? view : View::contiguous({0}), index}};
}

Spec MaxPool2dBackward::infer(const Operand& g, const Operand& indices) const {
  const Shape expected = pooled_shape(shape, windows);
  check_gradient(g, expected);
  check_indices(indices, expected);
  return {like(indices, shape), g.dtype};
}

Spec MaxPool2dGather::infer(const Operand& x, const Operand& indices) const {
  const Shape expected = pooled_shape(x.shape(), windows);
  check_indices(indices, expected);
  return {like(x, expected), x.dtype};
}

std::array<Spec, 2> FractionalMaxPool::infer(const Operand& x, const Operand& samples) const {
  if (x.rank() != 5) throw ShapeError(text("x must be (N, C, D, H, W), not ", x.shape()));
  check_dtype(samples, samples.dtype == f32 || samples.dtype == f64, "samples, f32 or f64");
  if (samples.shape() != Shape{x.size(0), x.size(1), 3})
    throw ShapeError(text("samples must be (N, C, 3), not ", samples.shape()));
  for (int64_t i = 0; i < 3; ++i)
    if (kernel[i] < 1 || size[i] < 1 || size[i] > x.size(i + 2) - kernel[i] + 1)
      throw ShapeError(text(size[i], " windows of ", kernel[i], " do not fit an axis of size ", x.size(i + 2)));
  const int64_t taps = checked_multiply(checked_multiply(kernel.depth, kernel.height), kernel.width);
  if (taps > std::numeric_limits<int32_t>::max())
    throw ShapeError(text("windows of ", attribute_text(kernel), " have more elements than 32 bits can count"));
  const View view = like(x, {x.size(0), x.size(1), size.depth, size.height, size.width});
  return {Spec{view, x.dtype}, Spec{view, i64}};
}

Spec AvgPool2d::infer(const Operand& x) const { return {like(x, pooled_shape(x.shape(), options)), x.dtype}; }

Spec AvgPool2dBackward::infer(const Operand& g) const {
  check_gradient(g, pooled_shape(shape, options));
  return {like(g, shape), g.dtype};
}

}  // namespace op
}  // namespace weft

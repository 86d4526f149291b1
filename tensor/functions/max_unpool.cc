#include "tensor/functions/max_unpool.h"

#include "tensor/adjoints/index.h"
#include "tensor/dispatch/apply.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/index.h"
#include "tensor/ops/window.h"

namespace weft {
namespace {

/// The size of an axis of the result.
int64_t checked_size(int64_t windows, int64_t kernel, int64_t stride, int64_t padding, std::optional<int64_t> wanted) {
  check_window(kernel, stride);
  if (padding < 0) throw Error(text("padding ", padding, " must be 0 or more"));
  const int64_t size =
      checked_add(checked_add(checked_multiply(windows - 1, stride), kernel), -checked_multiply(2, padding));
  if (wanted) {
    const int64_t least = checked_add(size, 1 - stride), most = checked_add(size, stride - 1);
    if (*wanted < least || *wanted > most)
      throw ShapeError(text("size ", *wanted, " must lie between ", least, " and ", most));
  }
  if (wanted.value_or(size) < 1) throw ShapeError(text("padding ", padding, " leaves nothing of the result"));
  return wanted.value_or(size);
}

template <class Sizes>
Tensor unpool(const char* name, const Tensor& x, const Tensor& indices, const PoolOptionsOf<Sizes>& o,
              const Shape& size) {
  ErrorFrame frame(name, x, indices);
  constexpr int64_t axes = Sizes::kAxes;
  dispatch::check_accepted(x.dtype(), kFloating);
  if (o.dilation != Sizes(1)) throw Error("windows with a dilation cannot be undone");
  if (x.rank() != axes + 1 && x.rank() != axes + 2)
    throw ShapeError(
        text("x must have ", axes, axes == 1 ? " axis" : " axes", " after its channels, not shape ", x.shape()));
  op::check_index_dtype(indices.dtype());
  if (indices.shape() != x.shape())
    throw ShapeError(text("the indices must have shape ", x.shape(), ", not ", indices.shape()));
  if (!size.empty() && size.rank() != axes)
    throw ShapeError(text("size must have ", axes, axes == 1 ? " axis" : " axes", ", not shape ", size));
  Shape shape = x.shape(), flat(x.shape().begin(), x.shape().end() - axes);
  int64_t pixels = 1;
  for (int64_t i = 0; i < axes; ++i) {
    const auto axis = static_cast<size_t>(x.rank() - axes + i);
    const auto wanted = size.empty() ? std::nullopt : std::optional(size[static_cast<size_t>(i)]);
    shape[axis] = checked_size(shape[axis], o.kernel_size[i], o.step()[i], o.padding[i], wanted);
    pixels = checked_multiply(pixels, shape[axis]);
  }
  flat.push_back(pixels);
  const int64_t last = flat.rank() - 1;
  const Tensor positions = flatten(indices, last, -1);
  const bool is_half = is_half_precision(x.dtype());
  // 16 bits hold neither the sum of a pixel's values nor their number.
  const Tensor values = flatten(is_half ? cast(x, f32) : x, last, -1);
  const Tensor sums = adjoint::scatter_add(values, last, positions, flat);
  const Tensor counts = adjoint::scatter_add(ones_like(values.detach()), last, positions, flat);
  const Tensor means = reshape(sums / clip(counts, 1, std::nullopt), shape);
  return is_half ? cast(means, x.dtype()) : means;
}

}  // namespace

Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const Pool1dOptions& options, const Shape& size) {
  return unpool("max_unpool1d", x, indices, options, size);
}
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const Pool2dOptions& options, const Shape& size) {
  return unpool("max_unpool2d", x, indices, options, size);
}
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const Pool3dOptions& options, const Shape& size) {
  return unpool("max_unpool3d", x, indices, options, size);
}

}  // namespace weft

#include "tensor/functions/pool.h"

#include <algorithm>
#include <cmath>

#include "tensor/adjoints/pool.h"
#include "tensor/adjoints/spatial.h"
#include "tensor/dispatch/apply.h"
#include "tensor/dispatch/batched.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/compare.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/index.h"
#include "tensor/functions/unary.h"
#include "tensor/functions/view.h"
#include "tensor/ops/pool.h"
#include "tensor/ops/window.h"

namespace weft {
namespace {

using adjoint::find_in_batch;
using adjoint::find_in_line;
using adjoint::for_batch;
using adjoint::for_depth;
using adjoint::for_line;
using adjoint::for_planes;

/// Pooling of one axis is that of height 1; pooling of three that of planes and then of depth.
Pool2dOptions flat(const Pool1dOptions& o) {
  const auto pair = [](int64_t height, const Size1& s) { return Size2(height, s.width); };
  return {pair(1, o.kernel_size), pair(1, o.step()), pair(0, o.padding), pair(1, o.dilation), o.ceil_mode,
          o.count_include_pad,    o.divisor_override};
}
Pool2dOptions of_planes(const Pool3dOptions& o) {
  const auto pair = [](const Size3& t) { return Size2(t.height, t.width); };
  return {pair(o.kernel_size), pair(o.step()), pair(o.padding), pair(o.dilation), o.ceil_mode, o.count_include_pad};
}
Pool2dOptions of_depth(const Pool3dOptions& o) {
  const auto pair = [](const Size3& t, int64_t width) { return Size2(t.depth, width); };
  return {pair(o.kernel_size, 1), pair(o.step(), 1), pair(o.padding, 0),
          pair(o.dilation, 1),    o.ceil_mode,       o.count_include_pad};
}

/// pool((.., C, 1, L)) of (.., C, L).
template <class Pool> Tensor for_checked_line(const Tensor& x, const Pool& pool) {
  check_spatial(x.shape(), 1);
  return for_line(x, pool);
}

// ---- means ----

/// What each window along axis `i` counts of the input and its padding; at least 1.
std::vector<double> counts_along(int axis, int64_t size, int64_t windows, const Pool2dOptions& o) {
  const int64_t kernel = o.kernel_size[axis], padding = o.padding[axis];
  const int64_t counted = o.count_include_pad ? padding : 0;
  std::vector<double> counts;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t begin = i * o.step()[axis] - padding;
    const int64_t inside = std::min(begin + kernel, size + counted) - std::max(begin, -counted);
    counts.push_back(static_cast<double>(std::max<int64_t>(inside, 1)));
  }
  return counts;
}

/// The op's means divide by the size of a whole window. This scales them to the divisors that the options ask for.
Tensor divided(const Tensor& y, const Shape& input, const Pool2dOptions& o) {
  const double window = static_cast<double>(checked_multiply(o.kernel_size.height, o.kernel_size.width));
  if (o.divisor_override) return y * (window / static_cast<double>(*o.divisor_override));
  const Shape out = pooled_shape(input, o);
  if (o.count_include_pad && !o.ceil_mode) return y;
  const auto rows = counts_along(0, input[2], out[2], o), columns = counts_along(1, input[3], out[3], o);
  std::vector<double> scale;
  for (double row : rows)
    for (double column : columns) scale.push_back(window / (row * column));
  return y * Tensor::from<double>(scale).view({out[2], out[3]}).to(y.dtype()).to(y.device());
}

/// The options that the op itself computes: padding counts, and there is no other divisor.
Pool2dOptions counted(Pool2dOptions options) {
  options.count_include_pad = true;
  options.divisor_override.reset();
  return options;
}

template <class Sizes> void check_mean(const PoolOptionsOf<Sizes>& o) {
  if (o.dilation != Sizes(1)) throw Error("dilation is for max pools only");
  if (o.divisor_override && *o.divisor_override == 0) throw Error("divisor_override must not be 0");
}

Tensor means(const Tensor& images, const Pool2dOptions& o) {
  // 16-bit results are rounded once: the op and the scaling run in f32.
  const bool scales = o.divisor_override || !o.count_include_pad || o.ceil_mode;
  if (scales && is_half_precision(images.dtype())) return cast(means(cast(images, f32), o), images.dtype());
  return divided(adjoint::avg_pool2d_whole(images, counted(o)), images.shape(), o);
}

// ---- maxima ----

template <class Sizes> void check_maximum(const PoolOptionsOf<Sizes>& o) {
  if (o.divisor_override) throw Error("divisor_override is for avg pools only");
  if (!o.count_include_pad) throw Error("count_include_pad is for avg pools only");
}

/// 0, step, ... (count numbers).
Tensor steps(int64_t step, int64_t count, const Tensor& like) { return arange(0, count, 1, i64, like.device()) * step; }

// ---- p-norms ----

template <class Sizes> double window_size(const Sizes& kernel) {
  int64_t size = 1;
  for (int64_t i = 0; i < Sizes::kAxes; ++i) size = checked_multiply(size, kernel[i]);
  return static_cast<double>(size);
}

/// x^p with p < 1, whose gradient at 0 is 0 and not infinite, as that of a norm.
Tensor smooth_pow(const Tensor& x, double p) {
  const Tensor is_zero = x.detach() == 0.0;
  return where(is_zero, 0.0, pow(where(is_zero, 1.0, x), p));
}

/// The norm by means(x^p), or by maxima(|x|) where p is infinite.
template <class Sizes> using PoolFunction = Tensor (*)(const Tensor& x, const PoolOptionsOf<Sizes>& options);
template <class Sizes>
Tensor norm_pool(const Tensor& x, double p, const PoolOptionsOf<Sizes>& o, PoolFunction<Sizes> mean,
                 PoolFunction<Sizes> maximum) {
  if (!(p > 0)) throw Error(text("p ", p, " must be larger than 0"));
  for (int64_t i = 0; i < Sizes::kAxes; ++i)
    if (o.padding[i] != 0 || o.dilation[i] != 1)
      throw Error(text("padding must be 0 and dilation 1 here, not ", o.padding[i], " and ", o.dilation[i]));
  check_maximum(o);
  if (std::isinf(p)) return maximum(abs(x), o);
  // Powers and their sums may exceed 16 bits where the norm does not. (Under Autocast the result stays f32.)
  if (is_half_precision(x.dtype())) {
    const Tensor y = norm_pool(cast(x, f32), p, o, mean, maximum);
    return internal::modes().autocast == f32 ? cast(y, x.dtype()) : y;
  }
  const Tensor sums = mean(p < 1 ? smooth_pow(x, p) : pow(x, p), o) * window_size(o.kernel_size);
  return p > 1 ? smooth_pow(sums, 1 / p) : pow(sums, 1 / p);
}

}  // namespace

Tensor max_pool1d(const Tensor& x, const Pool1dOptions& options) {
  ErrorFrame frame("max_pool1d", x);
  return for_checked_line(x, [&](const Tensor& images) { return max_pool2d(images, flat(options)); });
}

Tensor max_pool2d(const Tensor& x, const Pool2dOptions& options) {
  ErrorFrame frame("max_pool2d", x);
  check_maximum(options);
  return for_batch(x, 2, [&](const Tensor& images) { return adjoint::max_pool2d(images, options); });
}

Tensor max_pool3d(const Tensor& x, const Pool3dOptions& options) {
  ErrorFrame frame("max_pool3d", x);
  check_maximum(options);
  check_spatial(x.shape(), 3);
  return for_batch(
      x, 3, [&](const Tensor& volumes) { return adjoint::max_pool3d(volumes, of_planes(options), of_depth(options)); });
}

ValuesAndIndices max_pool1d_with_indices(const Tensor& x, const Pool1dOptions& options) {
  ErrorFrame frame("max_pool1d_with_indices", x);
  check_maximum(options);
  check_spatial(x.shape(), 1);
  return find_in_batch(x, 1, [&](const Tensor& batch) {
    return find_in_line(batch,
                        [&](const Tensor& images) { return adjoint::max_pool2d_with_indices(images, flat(options)); });
  });
}

ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const Pool2dOptions& options) {
  ErrorFrame frame("max_pool2d_with_indices", x);
  check_maximum(options);
  return find_in_batch(x, 2, [&](const Tensor& images) { return adjoint::max_pool2d_with_indices(images, options); });
}

ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const Pool3dOptions& options) {
  ErrorFrame frame("max_pool3d_with_indices", x);
  check_maximum(options);
  check_spatial(x.shape(), 3);
  return find_in_batch(x, 3, [&](const Tensor& volumes) {
    return adjoint::max_pool3d_with_indices(volumes, of_planes(options), of_depth(options));
  });
}

Tensor avg_pool1d(const Tensor& x, const Pool1dOptions& options) {
  ErrorFrame frame("avg_pool1d", x);
  return for_checked_line(x, [&](const Tensor& images) { return avg_pool2d(images, flat(options)); });
}

Tensor avg_pool2d(const Tensor& x, const Pool2dOptions& options) {
  ErrorFrame frame("avg_pool2d", x);
  check_mean(options);
  return for_batch(x, 2, [&](const Tensor& images) { return means(images, options); });
}

Tensor avg_pool3d(const Tensor& x, const Pool3dOptions& options) {
  ErrorFrame frame("avg_pool3d", x);
  check_mean(options);
  check_spatial(x.shape(), 3);
  if (is_half_precision(x.dtype())) return cast(avg_pool3d(cast(x, f32), options), x.dtype());  // rounded once
  Pool2dOptions planar = of_planes(options), deep = of_depth(options);
  if (options.divisor_override) {  // all of it goes to the planes
    planar.divisor_override = options.divisor_override;
    deep.divisor_override = 1;
  }
  return for_batch(x, 3, [&](const Tensor& volumes) {
    const Tensor flat = for_planes(volumes, [&](const Tensor& planes) { return means(planes, planar); });
    return for_depth(flat, [&](const Tensor& columns) { return means(columns, deep); });
  });
}

Tensor lp_pool1d(const Tensor& x, double p, const Pool1dOptions& options) {
  ErrorFrame frame("lp_pool1d", x);
  return norm_pool(x, p, options, avg_pool1d, max_pool1d);
}

Tensor lp_pool2d(const Tensor& x, double p, const Pool2dOptions& options) {
  ErrorFrame frame("lp_pool2d", x);
  return norm_pool(x, p, options, avg_pool2d, max_pool2d);
}

Tensor lp_pool3d(const Tensor& x, double p, const Pool3dOptions& options) {
  ErrorFrame frame("lp_pool3d", x);
  return norm_pool(x, p, options, avg_pool3d, max_pool3d);
}

namespace adjoint {

Tensor max_pool2d(const Tensor& x, const MaxWindows& windows) {
  return dispatch::apply(op::MaxPool2d{windows, dispatch::may_need_gradient(x)}, x)[0];
}

ValuesAndIndices max_pool2d_with_indices(const Tensor& x, const MaxWindows& windows) {
  const auto found = dispatch::apply(op::MaxPool2d{windows}, x);
  const Tensor &values = found[0], &indices = found[1];
  if (values.numel() == 0) return {values, cast(indices, i64)};  // of no images, however many windows they would have
  const int64_t height = x.size(2), width = x.size(3);
  // Where the first element of each window is, and how far each other one is from it.
  const auto starts = [&](int axis) {
    return Tensor::from<int64_t>(windows.starts(axis, x.size(axis + 2), values.size(axis + 2))).to(x.device());
  };
  const Size2 kernel = windows.options.kernel_size, dilation = windows.options.dilation;
  const Tensor far =
      unsqueeze(steps(dilation.height * width, kernel.height, x), 1) + steps(dilation.width, kernel.width, x);
  // Windows of nothing but padding have no index: any element stands for it.
  const Tensor known = clip(indices.to(i64), 0, far.numel() - 1);
  const Tensor within = reshape(index_select(reshape(far, {-1}), 0, reshape(known, {-1})), values.shape());
  return {values,
          clip(unsqueeze(starts(0) * width, 1) + starts(1) + within, 0, std::max<int64_t>(0, height * width - 1))};
}

Tensor max_pool3d(const Tensor& x, const MaxWindows& planes, const MaxWindows& depth) {
  const Tensor flat = for_planes(x, [&](const Tensor& images) { return max_pool2d(images, planes); });
  return for_depth(flat, [&](const Tensor& columns) { return max_pool2d(columns, depth); });
}

/// The maxima of planes, then those of these along the depth.
ValuesAndIndices max_pool3d_with_indices(const Tensor& x, const MaxWindows& planes, const MaxWindows& depth) {
  const int64_t size = x.size(2), plane = x.size(3) * x.size(4);
  const ValuesAndIndices flat = max_pool2d_with_indices(flatten(x, 1, 2), planes);
  const Tensor values = unflatten(flat.values, 1, {x.size(1), size});
  const Tensor indices = unflatten(flat.indices, 1, {x.size(1), size}) + view(steps(plane, size, x), {size, 1, 1});
  const ValuesAndIndices deep = max_pool2d_with_indices(flatten(values, 3, 4), depth);
  const Tensor chosen = gather(flatten(indices, 2, 4), 2, flatten(deep.indices, 2, 3));
  const Shape image = {values.size(3), values.size(4)};
  return {unflatten(deep.values, 3, image), unflatten(reshape(chosen, deep.values.shape()), 3, image)};
}

Tensor max_pool2d_backward(const Tensor& g, const Tensor& indices, const Shape& input_shape,
                           const MaxWindows& windows) {
  ErrorFrame frame("max_pool2d_backward", g, indices);
  return dispatch::apply(op::MaxPool2dBackward{windows, input_shape}, g, indices);
}

Tensor max_pool2d_gather(const Tensor& x, const Tensor& indices, const MaxWindows& windows) {
  ErrorFrame frame("max_pool2d_gather", x, indices);
  return dispatch::apply(op::MaxPool2dGather{windows}, x, indices);
}

Tensor avg_pool2d_whole(const Tensor& x, const Pool2dOptions& options) {
  ErrorFrame frame("avg_pool2d", x);
  return dispatch::apply(op::AvgPool2d{options}, x);
}

Tensor avg_pool2d_backward(const Tensor& g, const Shape& input_shape, const Pool2dOptions& options) {
  ErrorFrame frame("avg_pool2d_backward", g);
  return dispatch::apply(op::AvgPool2dBackward{options, input_shape}, g);
}

}  // namespace adjoint
}  // namespace weft

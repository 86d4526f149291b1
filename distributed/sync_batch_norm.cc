#include "distributed/sync_batch_norm.h"

#include "distributed/functions.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/copy.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/reduce.h"
#include "tensor/functions/unary.h"

namespace weft::distributed {
namespace {

/// All axes but 1.
IntList axes_but_channels(const Tensor& x) {
  IntList axes;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis != 1) axes.push_back(axis);
  return axes;
}

/// (C) as (1, C, 1, ...).
Tensor along_channels(const Tensor& values, const Tensor& x) {
  Shape shape = IntList::filled(static_cast<size_t>(x.rank()), 1);
  shape[1] = values.numel();
  return values.reshape(shape);
}

}  // namespace

Tensor SyncBatchNorm::forward(const Tensor& x) const {
  ErrorFrame frame("SyncBatchNorm", x);
  if (x.rank() < 2) throw ShapeError(text("the input must be (N, ", options().num_features, ", ...)"));
  check_features(x);
  if (!is_training() || group_.size() == 1) return normalize(x, false);
  Tensor values = full({1}, x.numel() / options().num_features, i64);  // a channel
  group_.all_reduce(values);
  const int64_t count = values.item<int64_t>();
  if (count == 0) return normalize(x, false);
  if (count == 1)
    throw ShapeError(
        "each channel has one value on all ranks together, which has no variance; use eval() or a larger batch");
  const Axes axes = axes_but_channels(x);
  const Tensor wide = x.dtype() == f64 ? x : x.to(f32);
  // Two passes: a difference of large squares would lose the variance.
  const Tensor mean = all_reduce(wide.sum(axes), group_) / static_cast<double>(count);
  const Tensor centered = wide - along_channels(mean, x);
  const Tensor variance = all_reduce(centered.square().sum(axes), group_) / static_cast<double>(count);
  const Tensor rstd = (variance + eps()).rsqrt();
  if (options().track_running_stats) track(mean.detach(), variance.detach(), count);
  Tensor y = centered * along_channels(rstd, x);
  if (options().affine) y = y * along_channels(weight(), x) + along_channels(bias(), x);
  return y.to(x.dtype());
}

Tensor SyncBatchNorm::forward_relu(const Tensor& x) const { return relu(nn::run_layer(*this, x)); }

}  // namespace weft::distributed

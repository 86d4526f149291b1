#include "distributed/sync_batch_norm.h"

#include "autograd/grad_mode.h"
#include "distributed/functions.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/cat.h"
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
  Shape shape(static_cast<size_t>(x.rank()), int64_t{1});
  shape[1] = values.numel();
  return values.reshape(shape);
}

}  // namespace

SyncBatchNorm::SyncBatchNorm(const nn::BatchNormOptions& options, const Group& group)
    : options_(options), group_(group) {
  Frame frame("SyncBatchNorm");
  if (options.num_features < 1) throw Error(text("num_features must be given, 1 or more, not ", options.num_features));
  if (!(options.eps > 0)) throw Error(text("eps must be above 0, not ", options.eps));
  const Shape shape = {options.num_features};
  if (options.affine) {
    weight_ = register_parameter("weight", ones(shape, options.dtype));
    bias_ = register_parameter("bias", zeros(shape, options.dtype));
  }
  if (options.track_running_stats) {
    running_mean_ = register_buffer("running_mean", zeros(shape, options.dtype));
    running_var_ = register_buffer("running_var", ones(shape, options.dtype));
    batches_ = register_buffer("num_batches_tracked", zeros({}, i64));
  }
  describe(text(options.num_features, ", eps=", options.eps));
}

Tensor SyncBatchNorm::normalize(const Tensor& x, const Tensor& mean, const Tensor& rstd) const {
  Tensor y = (x - along_channels(mean, x)) * along_channels(rstd, x);
  if (options_.affine) y = y * along_channels(weight_, x) + along_channels(bias_, x);
  return y;
}

Tensor SyncBatchNorm::forward(const Tensor& x) const {
  Frame frame("SyncBatchNorm", x);
  if (x.rank() < 2 || x.size(1) != options_.num_features)
    throw ShapeError(text("the input must be (N, ", options_.num_features, ", ...)"));
  if (!is_training() && options_.track_running_stats)
    return normalize(x, running_mean_, (running_var_ + options_.eps).rsqrt());
  const Axes axes = axes_but_channels(x);
  // Two passes: a difference of large squares would lose the variance.
  const Tensor own_count = full({1}, static_cast<double>(x.numel() / x.size(1)), x.dtype());
  const Tensor sums = all_reduce(cat({x.sum(axes), own_count}), group_);
  const double count = sums[options_.num_features].item<double>();
  const Tensor mean = sums.narrow(0, 0, options_.num_features) / count;
  const Tensor centred = x - along_channels(mean, x);
  const Tensor variance = all_reduce(centred.square().sum(axes), group_) / count;
  if (is_training() && options_.track_running_stats) {
    NoGrad guard;
    Tensor running_mean = running_mean_, running_var = running_var_, batches = batches_;
    batches += 1;
    const double momentum = options_.momentum.value_or(1.0 / batches.item<double>());
    running_mean.lerp_(mean.detach(), momentum);
    running_var.lerp_(variance.detach() * (count / std::max(count - 1, 1.0)), momentum);
  }
  return normalize(x, mean, (variance + options_.eps).rsqrt());
}

}  // namespace weft::distributed

#include "nn/layers/group_norm.h"

#include "autograd/run_again.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/layer_norm.h"
#include "tensor/functions/view.h"

namespace weft::nn {

GroupNorm::GroupNorm(const GroupNormOptions& options) : options_(options) {
  ErrorFrame frame("GroupNorm");
  detail::check_positive("num_groups", options.num_groups);
  detail::check_positive("num_channels", options.num_channels);
  detail::check_not_negative("eps", options.eps);
  if (options.num_channels % options.num_groups != 0)
    throw ShapeError(text(options.num_channels, " channels do not divide into ", options.num_groups, " groups"));
  detail::OptionList list;
  list.add(options.num_groups).add(options.num_channels).add("eps", options.eps);
  describe(list.add_unless(true, "affine", options.affine).line());
  if (!options.affine) return;
  weight_ = register_parameter("weight", ones({options.num_channels}, options.dtype));
  bias_ = register_parameter("bias", zeros({options.num_channels}, options.dtype));
}

Tensor GroupNorm::forward(const Tensor& x) const {
  ErrorFrame frame("GroupNorm", x);
  if (x.rank() < 2 || x.size(1) != options_.num_channels)
    throw ShapeError(text("the input must be (N, ", options_.num_channels, ", ...)"));
  return group_norm(x, options_.num_groups, weight_, bias_, options_.eps);
}

InstanceNorm::InstanceNorm(const InstanceNormOptions& options, const char* name, int64_t places)
    : options_(options), name_(name), places_(places) {
  ErrorFrame frame(name);
  detail::check_positive("num_features", options.num_features);
  detail::check_not_negative("eps", options.eps);
  detail::check_probability("momentum", options.momentum);
  detail::OptionList list;
  list.add(options.num_features).add("eps", options.eps).add_unless(0.1, "momentum", options.momentum);
  list.add_unless(false, "affine", options.affine);
  describe(list.add_unless(false, "track_running_stats", options.track_running_stats).line());
  register_channels(options.num_features, options.affine, options.track_running_stats, options.dtype);
}

Tensor InstanceNorm::normalize(const Tensor& x) const {
  ErrorFrame frame(name_, x);
  if (x.rank() == places_ + 1) return squeeze(normalize(unsqueeze(x, 0)), 0);
  if (x.rank() != places_ + 2 || x.size(1) != options_.num_features)
    throw ShapeError(text("the input must have ", places_ + 2, " axes, (N, ", options_.num_features, ", ...)"));
  const bool of_input = is_training() || !options_.track_running_stats;
  Tensor mean = running_mean_, var = running_var_;
  if (of_input && mean.defined()) {
    bool first = false;
    autograd::once([&]() -> std::vector<Tensor> { return first = true, std::vector<Tensor>(); });
    if (!first) mean = mean.clone(), var = var.clone();  // a checkpoint runs again: this batch has been counted
  }
  // num_batches_tracked stays 0, as in PyTorch, whose layers of this kind have the buffer and never count in it.
  return instance_norm(x, mean, var, weight_, bias_,
                       {.use_input_stats = of_input, .momentum = options_.momentum, .eps = options_.eps});
}

RMSNorm::RMSNorm(const RMSNormOptions& options) : options_(options) {
  ErrorFrame frame("RMSNorm");
  if (options.normalized_shape.empty()) throw ShapeError("normalized_shape needs one axis or more (was it left out?)");
  for (const int64_t size : options.normalized_shape) detail::check_positive("normalized_shape", size);
  if (options.eps) detail::check_not_negative("eps", *options.eps);
  detail::OptionList list;
  list.add(options.normalized_shape);
  if (options.eps) list.add("eps", *options.eps);
  describe(list.add_unless(true, "affine", options.affine).line());
  if (options.affine) weight_ = register_parameter("weight", ones(options.normalized_shape, options.dtype));
}

Tensor RMSNorm::forward(const Tensor& x) const {
  ErrorFrame frame("RMSNorm", x);
  return rms_norm(x, options_.normalized_shape, weight_, options_.eps);
}

LocalResponseNorm::LocalResponseNorm(const LocalResponseNormOptions& options) : options_(options) {
  describe(text(options.size, ", alpha=", options.alpha, ", beta=", options.beta, ", k=", options.k));
}

}  // namespace weft::nn

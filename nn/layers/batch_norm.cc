#include "nn/layers/batch_norm.h"

#include "autograd/grad_mode.h"
#include "autograd/run_again.h"
#include "nn/layers/option_list.h"
#include "nn/layers/options.h"
#include "nn/module/module_state.h"
#include "nn/update_bn.h"
#include "tensor/adjoints/batch_norm.h"
#include "tensor/functions/batch_norm_pool.h"
#include "tensor/functions/binary.h"
#include "tensor/functions/fill.h"
#include "tensor/functions/unary.h"

namespace weft::nn {

void ChannelNorm::register_channels(int64_t channels, bool affine, bool track_running_stats, DType dtype) {
  if (affine) {
    weight_ = register_parameter("weight", ones({channels}, dtype));
    bias_ = register_parameter("bias", zeros({channels}, dtype));
  }
  if (track_running_stats) {
    running_mean_ = register_buffer("running_mean", zeros({channels}, dtype));
    running_var_ = register_buffer("running_var", ones({channels}, dtype));
    batches_ = register_buffer("num_batches_tracked", zeros({}, i64));
  }
}

BatchNorm::BatchNorm(const BatchNormOptions& options) : options_(options) {
  ErrorFrame frame("BatchNorm");
  detail::check_positive("num_features", options.num_features);
  detail::check_not_negative("eps", options.eps);
  if (options.momentum) detail::check_probability("momentum", *options.momentum);
  detail::OptionList list;
  list.add(options.num_features).add("eps", options.eps);
  if (!options.momentum) list.add("momentum", "none");
  if (options.momentum) list.add_unless(0.1, "momentum", *options.momentum);
  list.add_unless(true, "affine", options.affine);
  describe(list.add_unless(true, "track_running_stats", options.track_running_stats).line());
  register_channels(options.num_features, options.affine, options.track_running_stats, options.dtype);
  mark_as_batch_norm();
}

void BatchNorm::check_features(const Tensor& x) const {
  if (x.size(1) != options_.num_features)
    throw ShapeError(text(x.size(1), " channels, but this layer has ", options_.num_features));
}

// An empty batch has no statistics: their mean would be 0 / 0.
Tensor BatchNorm::tracked(BatchNormResult result, const Tensor& x) const {
  if (is_training() && options_.track_running_stats && x.numel() > 0)
    track(result.mean, result.var, x.numel() / options_.num_features);
  return std::move(result.y);
}

Tensor BatchNorm::normalize(const Tensor& x, bool then_relu) const {
  check_features(x);
  if (!of_batch())
    return then_relu ? batch_norm_inference_relu(x, running_mean_, running_var_, weight_, bias_, options_.eps)
                     : batch_norm(x, running_mean_, running_var_, weight_, bias_, {.eps = options_.eps});
  return tracked(then_relu ? batch_norm_relu(x, weight_, bias_, options_.eps)
                           : batch_norm_with_statistics(x, weight_, bias_, options_.eps),
                 x);
}

std::pair<Tensor, Tensor> BatchNorm::scale_and_shift(DType dtype) const {
  Tensor scale = rsqrt(running_var_.to(dtype) + options_.eps);
  if (weight_.defined()) scale = std::move(scale) * weight_.to(dtype);
  Tensor shift = -(running_mean_.to(dtype) * scale);
  if (bias_.defined()) shift = std::move(shift) + bias_.to(dtype);
  return {std::move(scale), std::move(shift)};
}

void BatchNorm::track(const Tensor& mean, const Tensor& var, int64_t count) const {
  autograd::once([&]() -> std::vector<Tensor> {
    NoGrad guard;
    Tensor batches = batches_;
    batches.add_(1);
    const bool plain = !options_.momentum || detail::PlainAverages::alive();
    const double m = plain ? 1.0 / batches.item<double>() : *options_.momentum;
    adjoint::update_running(running_mean_, running_var_, mean, var, count, m);
    return {};
  });
}

Tensor BatchNormNd::checked(const Tensor& x, bool then_relu) const {
  ErrorFrame frame(input_.layer, x);
  if (x.rank() < input_.least_rank || x.rank() > input_.most_rank)
    throw ShapeError(text("the input must be ", input_.shapes));
  return normalize(x, then_relu);
}

Tensor BatchNormNd::forward_relu(const Tensor& x) const {
  if (detail::forward_hooks() != 0) return relu(run_layer(*this, x));  // hooks see norm(x), without the relu
  return in_layer(
      *this, [&](const Tensor& given) { return checked(given, true); }, x);
}

Tensor BatchNorm2d::forward_relu_max_pool(const Tensor& x, const Pool2dOptions& options) const {
  ErrorFrame frame("BatchNorm2d", x);
  if (detail::forward_hooks() != 0) return max_pool2d(forward_relu(x), options);
  const auto call = [&](const Tensor& given) {
    if (!of_batch() || given.rank() != 4) return max_pool2d(checked(given, true), options);
    check_features(given);
    return tracked(batch_norm_relu_max_pool2d(given, weight(), bias(), options, eps()), given);
  };
  return in_layer(*this, call, x);
}

Tensor BatchNormNd::operator()(const Tensor& x) const { return run_layer(*this, x); }

}  // namespace weft::nn

#include "optim/grad_scaler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/grad_mode.h"
#include "optim/half_precision.h"
#include "tensor/functions/binary.h"

namespace weft::optim {
namespace {

constexpr const char* kName = "GradScaler";

/// Whether f32 holds the scale, and what gradients are multiplied by afterwards.
bool is_usable(double scale) {
  using Limits = std::numeric_limits<float>;
  return scale >= Limits::min() && scale <= Limits::max();
}

void check(const GradScalerOptions& o, double scale) {
  if (!is_usable(scale)) throw Error(text("the scale must be positive and finite in f32, not ", scale));
  if (!(o.growth_factor > 1)) throw Error(text("growth_factor must be above 1, not ", o.growth_factor));
  if (!(o.backoff_factor > 0 && o.backoff_factor < 1))
    throw Error(text("backoff_factor must be in (0, 1), not ", o.backoff_factor));
  if (o.growth_interval < 1) throw Error(text("growth_interval must be 1 or more, not ", o.growth_interval));
}

}  // namespace

GradScaler::GradScaler(const GradScalerOptions& options) : options_(options), scale_(options.init_scale) {
  ErrorFrame frame(kName);
  check(options_, scale_);
}

Tensor GradScaler::scale(const Tensor& loss) const { return options_.enabled ? loss * scale_ : loss; }

GradScaler::Record& GradScaler::record_of(const Optimizer& optimizer) {
  for (Record& record : records_)
    if (record.optimizer == &optimizer) return record;
  return records_.emplace_back(Record{.optimizer = &optimizer});
}

void GradScaler::forget(const Optimizer& optimizer) {
  std::erase_if(records_, [&](const Record& record) { return record.optimizer == &optimizer; });
}

/// Divides the gradients by the scale, and returns whether all are finite. With `leave_to_step`, the optimizer's step
/// divides 16-bit gradients itself, in f32; with `refuse`, an f16 gradient is a DtypeError.
bool GradScaler::unscale_gradients(Optimizer& optimizer, Halves halves) const {
  NoGrad guard;
  const std::vector<Tensor> parameters = optimizer.parameters();
  for (const Tensor& parameter : parameters) {
    const Tensor gradient = parameter.grad();
    if (gradient.defined() && gradient.dtype() == f16 && halves == Halves::refuse)
      throw DtypeError(text("the gradient of `", parameter.name(),
                            "` is f16, in which it could vanish when divided by ", scale_,
                            "; keep parameters in f32 under Autocast(f16), or let step() divide it"));
  }
  // What may need memory comes first: a failure between two divisions could not be repeated.
  const bool finite = std::all_of(parameters.begin(), parameters.end(), [](const Tensor& parameter) {
    return !parameter.grad().defined() || std::isfinite(detail::largest(parameter.grad()));
  });
  for (const Tensor& parameter : parameters) {
    Tensor gradient = parameter.grad();
    if (gradient.defined() && !(halves == Halves::leave_to_step && is_half_precision(gradient.dtype())))
      gradient.mul_(1 / scale_);
  }
  return finite;
}

void GradScaler::unscale_(Optimizer& optimizer) {
  if (!options_.enabled) return;
  ErrorFrame frame("GradScaler::unscale_");
  Record& record = record_of(optimizer);
  if (record.stepped) throw Error("step() was called with this optimizer since the last update()");
  if (record.unscaled) throw Error("it was called with this optimizer since the last update()");
  record.finite = unscale_gradients(optimizer, Halves::refuse);
  record.unscaled = true;
}

bool GradScaler::step(Optimizer& optimizer) {
  if (!options_.enabled) return optimizer.step(), true;
  ErrorFrame frame("GradScaler::step");
  Record& record = record_of(optimizer);
  if (record.stepped) throw Error("it was called with this optimizer since the last update()");
  const bool divides = !record.unscaled;
  if (divides) record.finite = unscale_gradients(optimizer, Halves::leave_to_step);
  record.unscaled = record.stepped = true;  // also where the optimizer's step fails: the next gradients are others
  if (!record.finite) return ++skipped_, ++optimizer.attempts_, false;
  struct Factor {
    double& factor;
    Factor(double& place, double value) : factor(place) { factor = value; }
    ~Factor() { factor = 1; }
  } const factor(optimizer.gradient_factor_, divides ? 1 / scale_ : 1);
  optimizer.step();
  return true;
}

void GradScaler::finish(bool all_finite) {
  records_.clear();
  if (all_finite && ++growth_tracker_ != options_.growth_interval) return;
  const double changed = scale_ * (all_finite ? options_.growth_factor : options_.backoff_factor);
  if (is_usable(changed)) scale_ = changed;
  growth_tracker_ = 0;
}

void GradScaler::update() {
  if (!options_.enabled) return;
  ErrorFrame frame("GradScaler::update");
  if (records_.empty()) throw Error("there was no step() or unscale_() since the last update()");
  finish(std::all_of(records_.begin(), records_.end(), [](const Record& record) { return record.finite; }));
}

void GradScaler::update(double new_scale) {
  if (!options_.enabled) return;
  ErrorFrame frame("GradScaler::update");
  check(options_, new_scale);
  scale_ = new_scale;
  records_.clear();
}

std::map<std::string, double> GradScaler::state_dict() const {
  if (!options_.enabled) return {};
  return {{"scale", scale_},
          {"growth_factor", options_.growth_factor},
          {"backoff_factor", options_.backoff_factor},
          {"growth_interval", static_cast<double>(options_.growth_interval)},
          {"_growth_tracker", static_cast<double>(growth_tracker_)},
          {"skipped", static_cast<double>(skipped_)}};
}

void GradScaler::load_state_dict(const std::map<std::string, double>& state) {
  if (!options_.enabled) return;
  ErrorFrame frame("GradScaler::load_state_dict");
  const auto number = [&](const char* key) { return detail::number_of(state, key); };
  const auto count = [&](const char* key) { return detail::count_of(state, key); };
  GradScalerOptions options = options_;
  options.growth_factor = number("growth_factor");
  options.backoff_factor = number("backoff_factor");
  options.growth_interval = count("growth_interval");
  const double scale = number("scale");
  check(options, scale);
  const int64_t tracker = count("_growth_tracker");
  skipped_ = state.contains("skipped") ? count("skipped") : 0;
  options_ = options, scale_ = scale, growth_tracker_ = tracker;
}

}  // namespace weft::optim

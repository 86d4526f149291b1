#include "optim/curve_schedules.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace weft::optim {
namespace {

void at_least_one(const char* name, int64_t value) {
  if (value < 1) throw Error(text(name, " must be 1 or more, not ", value, value == 0 ? " (was it left out?)" : ""));
}
void not_negative(const char* name, double value) {
  if (!(value >= 0)) throw Error(text(name, " must be 0 or more, not ", value));
}
void not_empty(const std::vector<Curve>& curves) {
  if (curves.empty()) throw Error("no curves were given");
  for (const Curve& curve : curves)
    if (!curve) throw Error("a curve is empty");
}

/// Half a cosine wave: base at part 0, min_lr at part 1.
double half_cosine(double base, double min_lr, double part) {
  return min_lr + (base - min_lr) * (1 + std::cos(std::numbers::pi * part)) / 2;
}
/// The number of milestones at or before `step`.
size_t passed(const std::vector<int64_t>& milestones, int64_t step) {
  return static_cast<size_t>(std::upper_bound(milestones.begin(), milestones.end(), step) - milestones.begin());
}
double share(int64_t step, int64_t steps) { return static_cast<double>(step) / static_cast<double>(steps); }

}  // namespace

void detail::check_milestones(const std::vector<int64_t>& milestones) {
  for (size_t i = 0; i < milestones.size(); ++i)
    if (milestones[i] < 0 || (i > 0 && milestones[i] < milestones[i - 1]))
      throw Error(text("milestones must ascend from 0 on, not ", milestones[i], " at place ", i));
}

Curve step_curve(const StepOptions& options) {
  ErrorFrame frame("step_curve");
  at_least_one("every", options.every);
  not_negative("gamma", options.gamma);
  return [options](int64_t step, double base) {
    return base * std::pow(options.gamma, static_cast<double>(step / options.every));
  };
}

Curve multi_step_curve(const MultiStepOptions& options) {
  ErrorFrame frame("multi_step_curve");
  not_negative("gamma", options.gamma);
  std::vector<int64_t> milestones = options.milestones;
  std::sort(milestones.begin(), milestones.end());
  detail::check_milestones(milestones);
  return [gamma = options.gamma, milestones](int64_t step, double base) {
    return base * std::pow(gamma, static_cast<double>(passed(milestones, step)));
  };
}

Curve constant_curve(const ConstantOptions& options) {
  ErrorFrame frame("constant_curve");
  not_negative("factor", options.factor);
  return [options](int64_t step, double base) { return step < options.steps ? base * options.factor : base; };
}

Curve linear_curve(const LinearOptions& options) {
  ErrorFrame frame("linear_curve");
  at_least_one("steps", options.steps);
  not_negative("start_factor", options.start_factor);
  not_negative("end_factor", options.end_factor);
  return [options](int64_t step, double base) {
    const double part = share(std::min(step, options.steps), options.steps);
    return base * (options.start_factor + (options.end_factor - options.start_factor) * part);
  };
}

Curve exponential_curve(const ExponentialOptions& options) {
  ErrorFrame frame("exponential_curve");
  if (!(options.gamma > 0))
    throw Error(text("gamma must be positive, not ", options.gamma, options.gamma == 0 ? " (was it left out?)" : ""));
  return [options](int64_t step, double base) { return base * std::pow(options.gamma, static_cast<double>(step)); };
}

Curve polynomial_curve(const PolynomialOptions& options) {
  ErrorFrame frame("polynomial_curve");
  at_least_one("steps", options.steps);
  not_negative("power", options.power);
  return [options](int64_t step, double base) {
    return base * std::pow(1 - share(std::min(step, options.steps), options.steps), options.power);
  };
}

Curve cosine_curve(const CosineOptions& options) {
  ErrorFrame frame("cosine_curve");
  at_least_one("steps", options.steps);
  not_negative("min_lr", options.min_lr);
  return [options](int64_t step, double base) { return half_cosine(base, options.min_lr, share(step, options.steps)); };
}

Curve warm_restarts_curve(const WarmRestartsOptions& options) {
  ErrorFrame frame("warm_restarts_curve");
  at_least_one("period", options.period);
  at_least_one("multiplier", options.multiplier);
  not_negative("min_lr", options.min_lr);
  return [options](int64_t step, double base) {
    auto period = static_cast<double>(options.period), at = static_cast<double>(step);
    if (options.multiplier == 1) at = std::fmod(at, period);
    while (at >= period) {
      at -= period;
      period *= static_cast<double>(options.multiplier);
    }
    return half_cosine(base, options.min_lr, at / period);
  };
}

Curve warmup_curve(const WarmupOptions& options) {
  ErrorFrame frame("warmup_curve");
  at_least_one("steps", options.steps);
  not_negative("start_factor", options.start_factor);
  const Curve rising = linear_curve({.start_factor = options.start_factor, .steps = options.steps});
  const Curve then = options.then ? options.then : [](int64_t, double base) { return base; };
  return sequential_curve({.curves = {rising, then}, .milestones = {options.steps}});
}

Curve sequential_curve(const SequentialOptions& options) {
  ErrorFrame frame("sequential_curve");
  not_empty(options.curves);
  detail::check_milestones(options.milestones);
  if (options.milestones.size() + 1 != options.curves.size())
    throw Error(text(options.curves.size(), " curves need one milestone less, not ", options.milestones.size()));
  return [options](int64_t step, double base) {
    const size_t at = passed(options.milestones, step);
    return options.curves[at](at == 0 ? step : step - options.milestones[at - 1], base);
  };
}

Curve lambda_curve(const StepFactor& factor) {
  ErrorFrame frame("lambda_curve");
  if (!factor) throw Error("the factor is empty");
  return [factor](int64_t step, double base) { return base * factor(step); };
}

Curve multiplicative_curve(const StepFactor& factor) {
  ErrorFrame frame("multiplicative_curve");
  if (!factor) throw Error("the factor is empty");
  // The product so far is kept, so that a step asks for one factor.
  return [factor, at = int64_t{0}, product = 1.0](int64_t step, double base) mutable {
    if (step < at) at = 0, product = 1;
    for (; at < step; ++at) product *= factor(at + 1);  // which may throw
    return base * product;
  };
}

GroupCurve detail::by_group(const char* name, const Optimizer& optimizer, const std::vector<StepFactor>& factors,
                            Curve (*curve_of)(const StepFactor&)) {
  if (factors.size() != optimizer.group_count())
    throw Error(text(name, ": there are ", factors.size(), " factors for ", optimizer.group_count(), " groups"));
  std::vector<Curve> curves;
  for (const StepFactor& factor : factors) curves.push_back(curve_of(factor));
  return {[curves](int64_t step, double base, size_t group) { return curves[group](step, base); }};
}

Curve chained_curve(const std::vector<Curve>& curves) {
  ErrorFrame frame("chained_curve");
  not_empty(curves);
  return [curves](int64_t step, double base) {
    for (const Curve& curve : curves) base = curve(step, base);
    return base;
  };
}

}  // namespace weft::optim

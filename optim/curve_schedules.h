// Schedules whose learning rate depends only on the step and the group's base learning rate, and those functions
// themselves: a Curve can be combined with other curves.
#pragma once

#include <functional>
#include <vector>

#include "optim/schedule.h"

namespace weft::optim {

struct StepOptions {
  int64_t every = 0;   // steps between two changes; at least 1
  double gamma = 0.1;  // factor at each change
};
struct MultiStepOptions {
  /// The steps at which the learning rate changes, each 0 or more; a step listed twice changes it twice.
  std::vector<int64_t> milestones = {};
  double gamma = 0.1;  // factor at each change
};
struct ConstantOptions {
  double factor = 1.0 / 3;  // factor on the base learning rate during the first `steps` steps
  int64_t steps = 5;        // number of steps before the base learning rate applies
};
struct LinearOptions {
  double start_factor = 1.0 / 3;  // factor on the base learning rate at the start
  double end_factor = 1;          // factor at the end
  int64_t steps = 5;              // number of steps between the two; at least 1
};
struct ExponentialOptions {
  double gamma = 0;  // factor per step
};
struct PolynomialOptions {
  int64_t steps = 5;  // number of steps until the learning rate is 0; at least 1
  double power = 1;
};
struct CosineOptions {
  /// Number of steps from the base learning rate down to min_lr, at least 1; after them, the learning rate rises again.
  int64_t steps = 0;
  double min_lr = 0;
};
struct WarmRestartsOptions {
  int64_t period = 0;      // number of steps in the first cycle; at least 1
  int64_t multiplier = 1;  // factor on the period at each restart
  double min_lr = 0;
};
struct WarmupOptions {
  int64_t steps = 0;              // number of warmup steps; at least 1
  double start_factor = 1.0 / 3;  // factor on the base learning rate at the start
  /// The curve after the warmup, with its steps counted from 0; null: the base learning rate.
  Curve then = nullptr;
};
struct SequentialOptions {
  std::vector<Curve> curves = {};
  /// The steps at which the second, third, ... curve begins; ascending, from 0 on.
  std::vector<int64_t> milestones = {};
};

/// base * gamma^floor(step / every).
Curve step_curve(const StepOptions& options);
/// base * gamma^k, where k is the number of milestones <= step.
Curve multi_step_curve(const MultiStepOptions& options);
/// base * factor for step < steps, then base.
Curve constant_curve(const ConstantOptions& options);
/// base times a factor that goes linearly from start_factor to end_factor in `steps` steps and then stays.
Curve linear_curve(const LinearOptions& options);
/// base * gamma^step.
Curve exponential_curve(const ExponentialOptions& options);
/// base * (1 - step / steps)^power for step < steps, then 0.
Curve polynomial_curve(const PolynomialOptions& options);
/// min_lr + (base - min_lr) (1 + cos(pi step / steps)) / 2 (Loshchilov and Hutter, arXiv 1608.03983).
Curve cosine_curve(const CosineOptions& options);
/// Cosine annealing from base to min_lr, restarted at base in every period (Loshchilov and Hutter, arXiv 1608.03983).
Curve warm_restarts_curve(const WarmRestartsOptions& options);
/// base times a factor that goes linearly from start_factor to 1 in `steps` steps, followed by the curve `then`.
Curve warmup_curve(const WarmupOptions& options);
/// The curves one after another. Each counts its steps from 0 and has the same base.
Curve sequential_curve(const SequentialOptions& options);
/// A factor as a function of the step.
using StepFactor = std::function<double(int64_t step)>;
/// base * factor(step).
Curve lambda_curve(const StepFactor& factor);
/// base * factor(1) * ... * factor(step).
Curve multiplicative_curve(const StepFactor& factor);
/// Applies the curves in a chain: the learning rate of each curve is the base of the next. If the curves multiply the
/// base, the result is the product of their factors.
Curve chained_curve(const std::vector<Curve>& curves);

namespace detail {
/// Gives group i the curve curve_of(factors[i]). Error, naming schedule `name`, unless there is one factor per group.
GroupCurve by_group(const char* name, const Optimizer& optimizer, const std::vector<StepFactor>& factors,
                    Curve (*curve_of)(const StepFactor&));
/// curve_of(options); its errors name `schedule`.
template <class Options>
Curve curve_for(const char* schedule, Curve (*curve_of)(const Options&), const Options& options) {
  const ErrorFrame frame(schedule);
  return curve_of(options);
}
}  // namespace detail

/// PyTorch's StepLR. StepLR, ExponentialLR and the cosine schedules also take their options by position:
/// `optim::StepLR schedule(optimizer, 30)`, `optim::StepLR schedule(optimizer, 30, 0.5)`.
class StepLR final : public Schedule {
 public:
  StepLR(Optimizer& optimizer, const StepOptions& options)
      : Schedule(optimizer, detail::curve_for("StepLR", step_curve, options)) {}
  StepLR(Optimizer& optimizer, int64_t every, double gamma = 0.1)
      : StepLR(optimizer, StepOptions{.every = every, .gamma = gamma}) {}
};

/// PyTorch's MultiStepLR.
class MultiStepLR final : public Schedule {
 public:
  MultiStepLR(Optimizer& optimizer, const MultiStepOptions& options)
      : Schedule(optimizer, detail::curve_for("MultiStepLR", multi_step_curve, options)) {}
};

/// PyTorch's ConstantLR.
class ConstantLR final : public Schedule {
 public:
  ConstantLR(Optimizer& optimizer, const ConstantOptions& options)
      : Schedule(optimizer, detail::curve_for("ConstantLR", constant_curve, options)) {}
};

/// PyTorch's LinearLR.
class LinearLR final : public Schedule {
 public:
  LinearLR(Optimizer& optimizer, const LinearOptions& options)
      : Schedule(optimizer, detail::curve_for("LinearLR", linear_curve, options)) {}
};

/// PyTorch's ExponentialLR.
class ExponentialLR final : public Schedule {
 public:
  ExponentialLR(Optimizer& optimizer, const ExponentialOptions& options)
      : Schedule(optimizer, detail::curve_for("ExponentialLR", exponential_curve, options)) {}
  ExponentialLR(Optimizer& optimizer, double gamma) : ExponentialLR(optimizer, ExponentialOptions{.gamma = gamma}) {}
};

/// PyTorch's PolynomialLR.
class PolynomialLR final : public Schedule {
 public:
  PolynomialLR(Optimizer& optimizer, const PolynomialOptions& options)
      : Schedule(optimizer, detail::curve_for("PolynomialLR", polynomial_curve, options)) {}
};

/// Cosine annealing; see CosineOptions. Same as PyTorch's CosineAnnealingLR.
class CosineAnnealing final : public Schedule {
 public:
  CosineAnnealing(Optimizer& optimizer, const CosineOptions& options)
      : Schedule(optimizer, detail::curve_for("CosineAnnealing", cosine_curve, options)) {}
  CosineAnnealing(Optimizer& optimizer, int64_t steps, double min_lr = 0)
      : CosineAnnealing(optimizer, CosineOptions{.steps = steps, .min_lr = min_lr}) {}
};
using CosineAnnealingLR = CosineAnnealing;  // PyTorch's name

/// Cosine annealing with warm restarts; see WarmRestartsOptions.
class CosineWarmRestarts final : public Schedule {
 public:
  CosineWarmRestarts(Optimizer& optimizer, const WarmRestartsOptions& options)
      : Schedule(optimizer, detail::curve_for("CosineWarmRestarts", warm_restarts_curve, options)) {}
  CosineWarmRestarts(Optimizer& optimizer, int64_t period, int64_t multiplier = 1, double min_lr = 0)
      : CosineWarmRestarts(optimizer,
                           WarmRestartsOptions{.period = period, .multiplier = multiplier, .min_lr = min_lr}) {}
};
using CosineAnnealingWarmRestarts = CosineWarmRestarts;  // PyTorch's name

/// A linear warmup to the base learning rate (PyTorch's LinearLR), followed by another curve:
///   optim::LinearWarmup schedule(optimizer, {.steps = 100, .then = optim::cosine_curve({.steps = 900})});
class LinearWarmup final : public Schedule {
 public:
  LinearWarmup(Optimizer& optimizer, const WarmupOptions& options)
      : Schedule(optimizer, detail::curve_for("LinearWarmup", warmup_curve, options)) {}
};

/// PyTorch's SequentialLR, for curves (SequentialLR takes schedules of any kind):
///   optim::SequentialCurves schedule(optimizer, {.curves = {optim::constant_curve({}),
///                                                           optim::exponential_curve({.gamma = 0.9})},
///                                                .milestones = {5}});
class SequentialCurves final : public Schedule {
 public:
  SequentialCurves(Optimizer& optimizer, const SequentialOptions& options)
      : Schedule(optimizer, detail::curve_for("SequentialCurves", sequential_curve, options)) {}
};

/// PyTorch's LambdaLR: `optim::LambdaLR schedule(optimizer, [](int64_t step) { return std::pow(0.9, step); });`
class LambdaLR final : public Schedule {
 public:
  LambdaLR(Optimizer& optimizer, const StepFactor& factor)
      : Schedule(optimizer, detail::curve_for("LambdaLR", lambda_curve, factor)) {}
  /// One factor function per group.
  LambdaLR(Optimizer& optimizer, const std::vector<StepFactor>& factors)
      : Schedule(optimizer, detail::by_group("LambdaLR", optimizer, factors, lambda_curve)) {}
};

/// PyTorch's MultiplicativeLR: each step t multiplies the learning rate by factor(t), t = 1, 2, ...
class MultiplicativeLR final : public Schedule {
 public:
  MultiplicativeLR(Optimizer& optimizer, const StepFactor& factor)
      : Schedule(optimizer, detail::curve_for("MultiplicativeLR", multiplicative_curve, factor)) {}
  /// One factor function per group.
  MultiplicativeLR(Optimizer& optimizer, const std::vector<StepFactor>& factors)
      : Schedule(optimizer, detail::by_group("MultiplicativeLR", optimizer, factors, multiplicative_curve)) {}
};

/// PyTorch's ChainedScheduler, for curves (ChainedScheduler takes schedules of any kind).
class ChainedCurves final : public Schedule {
 public:
  ChainedCurves(Optimizer& optimizer, const std::vector<Curve>& curves)
      : Schedule(optimizer, detail::curve_for("ChainedCurves", chained_curve, curves)) {}
};

}  // namespace weft::optim

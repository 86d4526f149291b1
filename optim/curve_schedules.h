// Schedules whose rate is a function of the step and the group's own rate, and these functions: `curve`s can be joined.
#pragma once

#include <functional>
#include <vector>

#include "optim/schedule.h"

namespace weft::optim {

struct StepOptions {
  int64_t every = 0;   // steps between two changes, at least 1
  double gamma = 0.1;  // factor of a change
};
struct MultiStepOptions {
  std::vector<int64_t> milestones = {};  // the steps of the changes, 0 or more; one given twice counts twice
  double gamma = 0.1;                    // factor of a change
};
struct ConstantOptions {
  double factor = 1.0 / 3;  // of the rate at first
  int64_t steps = 5;        // until the base rate is reached
};
struct LinearOptions {
  double start_factor = 1.0 / 3;  // of the first rate
  double end_factor = 1;          // of the last one
  int64_t steps = 5;              // from the first to the last, at least 1
};
struct ExponentialOptions {
  double gamma = 0;  // factor of every step
};
struct PolynomialOptions {
  int64_t steps = 5;  // until the rate is 0, at least 1
  double power = 1;
};
struct CosineOptions {
  int64_t steps = 0;  // from the base rate down to min_lr, at least 1; then it rises again
  double min_lr = 0;
};
struct WarmRestartsOptions {
  int64_t period = 0;      // steps from one base rate to the next, at least 1
  int64_t multiplier = 1;  // of the period, at every restart
  double min_lr = 0;
};
struct WarmupOptions {
  int64_t steps = 0;              // until the base rate is reached, at least 1
  double start_factor = 1.0 / 3;  // of the first rate
  Curve then = nullptr;           // what follows, counting from 0 again; the base rate stays where absent
};
struct SequentialOptions {
  std::vector<Curve> curves = {};
  std::vector<int64_t> milestones = {};  // the steps at which the second, the third ... curve begins, ascending from 0
};

/// base * gamma^(step / every), rounded down.
Curve step_curve(const StepOptions& options);
/// base * gamma^(number of milestones up to step).
Curve multi_step_curve(const MultiStepOptions& options);
/// base * factor, from `steps` on base.
Curve constant_curve(const ConstantOptions& options);
/// base * (start_factor ... end_factor), linear.
Curve linear_curve(const LinearOptions& options);
/// base * gamma^step.
Curve exponential_curve(const ExponentialOptions& options);
/// base * (1 - step / steps)^power, from `steps` on 0.
Curve polynomial_curve(const PolynomialOptions& options);
/// min + (base - min) (1 + cos(pi step / steps)) / 2: Loshchilov and Hutter, arXiv 1608.03983.
Curve cosine_curve(const CosineOptions& options);
/// Half a cosine down to min_lr, again and again: Loshchilov and Hutter, arXiv 1608.03983.
Curve warm_restarts_curve(const WarmRestartsOptions& options);
/// base * (start_factor ... 1), linear, then `then`.
Curve warmup_curve(const WarmupOptions& options);
/// One curve after another, each counting from 0 and with the same base.
Curve sequential_curve(const SequentialOptions& options);
/// A factor that depends on the step.
using StepFactor = std::function<double(int64_t step)>;
/// base * factor(step).
Curve lambda_curve(const StepFactor& factor);
/// base * factor(1) ... factor(step).
Curve multiplicative_curve(const StepFactor& factor);
/// The curve of each group is curve_of(its factor). Error unless there is one factor for each group.
GroupCurve by_group(const Optimizer& optimizer, const std::vector<StepFactor>& factors,
                    Curve (*curve_of)(const StepFactor&));
/// Each curve's rate is the base of the next: the product of the factors where they are factors.
Curve chained_curve(const std::vector<Curve>& curves);

/// curve_of(options), whose errors name the schedule that it is for.
template <class Options>
Curve curve_for(const char* schedule, Curve (*curve_of)(const Options&), const Options& options) {
  const ErrorFrame frame(schedule);
  return curve_of(options);
}

/// PyTorch's StepLR.
class StepLR final : public Schedule {
 public:
  StepLR(Optimizer& optimizer, const StepOptions& options)
      : Schedule(optimizer, curve_for("StepLR", step_curve, options)) {}
};

/// PyTorch's MultiStepLR.
class MultiStepLR final : public Schedule {
 public:
  MultiStepLR(Optimizer& optimizer, const MultiStepOptions& options)
      : Schedule(optimizer, curve_for("MultiStepLR", multi_step_curve, options)) {}
};

/// PyTorch's ConstantLR.
class ConstantLR final : public Schedule {
 public:
  ConstantLR(Optimizer& optimizer, const ConstantOptions& options)
      : Schedule(optimizer, curve_for("ConstantLR", constant_curve, options)) {}
};

/// PyTorch's LinearLR.
class LinearLR final : public Schedule {
 public:
  LinearLR(Optimizer& optimizer, const LinearOptions& options)
      : Schedule(optimizer, curve_for("LinearLR", linear_curve, options)) {}
};

/// PyTorch's ExponentialLR.
class ExponentialLR final : public Schedule {
 public:
  ExponentialLR(Optimizer& optimizer, const ExponentialOptions& options)
      : Schedule(optimizer, curve_for("ExponentialLR", exponential_curve, options)) {}
};

/// PyTorch's PolynomialLR.
class PolynomialLR final : public Schedule {
 public:
  PolynomialLR(Optimizer& optimizer, const PolynomialOptions& options)
      : Schedule(optimizer, curve_for("PolynomialLR", polynomial_curve, options)) {}
};

/// Half a cosine down to min_lr; see CosineOptions.
class CosineAnnealing final : public Schedule {
 public:
  CosineAnnealing(Optimizer& optimizer, const CosineOptions& options)
      : Schedule(optimizer, curve_for("CosineAnnealing", cosine_curve, options)) {}
};
using CosineAnnealingLR = CosineAnnealing;  // PyTorch's name

/// Cosines one after the other; see WarmRestartsOptions.
class CosineWarmRestarts final : public Schedule {
 public:
  CosineWarmRestarts(Optimizer& optimizer, const WarmRestartsOptions& options)
      : Schedule(optimizer, curve_for("CosineWarmRestarts", warm_restarts_curve, options)) {}
};
using CosineAnnealingWarmRestarts = CosineWarmRestarts;  // PyTorch's name

/// PyTorch's LinearLR up to 1, then another curve:
///   optim::LinearWarmup schedule(optimizer, {.steps = 100, .then = optim::cosine_curve({.steps = 900})});
class LinearWarmup final : public Schedule {
 public:
  LinearWarmup(Optimizer& optimizer, const WarmupOptions& options)
      : Schedule(optimizer, curve_for("LinearWarmup", warmup_curve, options)) {}
};

/// PyTorch's SequentialLR:
///   optim::SequentialLR schedule(optimizer, {.curves = {optim::constant_curve({}),
///                                                       optim::exponential_curve({.gamma = 0.9})},
///                                            .milestones = {5}});
class SequentialLR final : public Schedule {
 public:
  SequentialLR(Optimizer& optimizer, const SequentialOptions& options)
      : Schedule(optimizer, curve_for("SequentialLR", sequential_curve, options)) {}
};

/// PyTorch's LambdaLR: `optim::LambdaLR schedule(optimizer, [](int64_t step) { return std::pow(0.9, step); });`
class LambdaLR final : public Schedule {
 public:
  LambdaLR(Optimizer& optimizer, const StepFactor& factor)
      : Schedule(optimizer, curve_for("LambdaLR", lambda_curve, factor)) {}
  /// A factor for each group.
  LambdaLR(Optimizer& optimizer, const std::vector<StepFactor>& factors)
      : Schedule(optimizer, by_group(optimizer, factors, lambda_curve)) {}
};

/// PyTorch's MultiplicativeLR: the rate is multiplied by factor(1), factor(2), ...
class MultiplicativeLR final : public Schedule {
 public:
  MultiplicativeLR(Optimizer& optimizer, const StepFactor& factor)
      : Schedule(optimizer, curve_for("MultiplicativeLR", multiplicative_curve, factor)) {}
  /// A factor for each group.
  MultiplicativeLR(Optimizer& optimizer, const std::vector<StepFactor>& factors)
      : Schedule(optimizer, by_group(optimizer, factors, multiplicative_curve)) {}
};

/// PyTorch's ChainedScheduler, of curves.
class ChainedScheduler final : public Schedule {
 public:
  ChainedScheduler(Optimizer& optimizer, const std::vector<Curve>& curves)
      : Schedule(optimizer, curve_for("ChainedScheduler", chained_curve, curves)) {}
};

}  // namespace weft::optim

// Schedules: change an optimizer's rates from step to step. `schedule.step()` goes after `optimizer.step()`.
#pragma once

#include <functional>
#include <vector>

#include "optim/optimizer.h"

namespace weft::optim {

/// The rate after `step` steps for a group whose own rate is `base`.
using Curve = std::function<double(int64_t step, double base)>;

/// Sets the lr of every group to curve(number of steps, the group's lr at the start), from construction on. What else
/// sets an lr is overwritten by the next step. The optimizer must outlive the schedule.
class Schedule {
 public:
  Schedule(Optimizer& optimizer, Curve curve);
  virtual ~Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  void step();
  int64_t steps() const { return steps_; }
  double lr(size_t group = 0) const { return optimizer_.lr(group); }

  /// Where it stands, and the rates at the start; load_state_dict also sets the optimizer's rates. Error where it does
  /// not fit.
  State state_dict() const;
  void load_state_dict(const State& state);

 protected:
  Optimizer& optimizer() { return optimizer_; }
  /// Sets what depends on steps().
  virtual void apply();

 private:
  Optimizer& optimizer_;
  Curve curve_;
  std::vector<double> base_;  // the lr of every group at the start
  int64_t steps_ = 0;
};

struct StepOptions {
  int64_t every = 0;   // steps between two changes, at least 1
  double gamma = 0.1;  // factor of a change
};
struct CosineOptions {
  int64_t steps = 0;  // from the base rate down to min_lr, at least 1; then it rises again
  double min_lr = 0;
};
struct WarmupOptions {
  int64_t steps = 0;              // until the base rate is reached, at least 1
  double start_factor = 1.0 / 3;  // of the first rate
  Curve then = nullptr;           // what follows, counting from 0 again; the base rate stays where absent
};

/// base * gamma^(step / every), rounded down.
Curve step_curve(const StepOptions& options);
/// min + (base - min) (1 + cos(pi step / steps)) / 2: Loshchilov and Hutter, arXiv 1608.03983.
Curve cosine_curve(const CosineOptions& options);
/// base * (start_factor ... 1), linear, then `then`.
Curve warmup_curve(const WarmupOptions& options);

/// PyTorch's StepLR.
class StepLR final : public Schedule {
 public:
  StepLR(Optimizer& optimizer, const StepOptions& options) : Schedule(optimizer, step_curve(options)) {}
};

/// PyTorch's CosineAnnealingLR.
class CosineAnnealing final : public Schedule {
 public:
  CosineAnnealing(Optimizer& optimizer, const CosineOptions& options) : Schedule(optimizer, cosine_curve(options)) {}
};

/// PyTorch's LinearLR up to 1, then another curve:
///   optim::LinearWarmup schedule(optimizer, {.steps = 100, .then = optim::cosine_curve({.steps = 900})});
class LinearWarmup final : public Schedule {
 public:
  LinearWarmup(Optimizer& optimizer, const WarmupOptions& options) : Schedule(optimizer, warmup_curve(options)) {}
};

}  // namespace weft::optim
